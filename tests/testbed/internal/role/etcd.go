package role

import (
	"errors"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"windlass.dev/testbed/internal/bed"
)

func runEtcd(d bed.Dir, s *bed.State) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)

	client := url.URL{Scheme: "http", Host: local(s.Ports["etcd"])}
	peer := url.URL{Scheme: "http", Host: local(s.Ports["etcd-peer"])}
	cfg := embed.NewConfig()
	cfg.Dir = d.Path("etcd")
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls = []url.URL{peer}
	// The data need not survive a crash of the machine, only one of a process.
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "warn"
	// On a busy machine there would be a line for every second request.
	cfg.WarningApplyDuration, cfg.WarningUnaryRequestDuration = 5*time.Second, 5*time.Second
	cfg.QuotaBackendBytes = 2 << 30
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "periodic", "10m"
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case <-stop:
		return nil
	case <-time.After(time.Minute):
		return errors.New("etcd was not ready within a minute")
	}
	select {
	case <-stop:
		return nil
	case err := <-e.Err():
		return err
	}
}
