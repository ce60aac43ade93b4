package supervisor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"windlass.dev/testbed/internal/bed"
)

// healthy asks a role whether it does its work. The answer of etcd and of the
// roles' health ports needs no log-in, and the certificates are the testbed's.
func healthy(ctx context.Context, s *bed.State, role string) error {
	port := strconv.Itoa(s.Ports[role])
	switch role {
	case "etcd":
		return probe(ctx, "http://127.0.0.1:"+port+"/health")
	case "apiserver":
		return probe(ctx, "https://127.0.0.1:"+port+"/readyz")
	default:
		return probe(ctx, "https://127.0.0.1:"+port+"/healthz")
	}
}

var probeClient = &http.Client{
	Timeout: 2 * time.Second,
	Transport: &http.Transport{
		Proxy:             nil,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	},
}

func probe(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := probeClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		return fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

var errEnded = errors.New("its process ended")

// await repeats a check until it passes, the time is over, or the process
// whose work is awaited has ended.
func await(ctx context.Context, gone <-chan struct{}, check func(context.Context) error) error {
	var last error
	for {
		if last = check(ctx); last == nil {
			return nil
		}
		select {
		case <-gone:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("%w (%v)", last, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// usable checks that a Pod could be created and would run now.
func usable(d bed.Dir, s *bed.State) func(context.Context) error {
	var client kubernetes.Interface
	return func(ctx context.Context) error {
		if client == nil {
			cfg, err := clientcmd.BuildConfigFromFlags("", d.Kubeconfig())
			if err != nil {
				return err
			}
			cfg.UserAgent = "testbed-up"
			c, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			client = c
		}
		nodes, err := client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for _, n := range nodes.Items {
			if nodeUsable(&n) {
				ready++
			}
		}
		if ready < s.Nodes {
			return fmt.Errorf("%d of %d nodes are ready", ready, s.Nodes)
		}
		_, err = client.CoreV1().ServiceAccounts("default").Get(ctx, "default", meta.GetOptions{})
		return err
	}
}

func nodeUsable(n *core.Node) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == core.TaintNodeNotReady || t.Key == core.TaintNodeUnreachable {
			return false
		}
	}
	for _, c := range n.Status.Conditions {
		if c.Type == core.NodeReady {
			return c.Status == core.ConditionTrue
		}
	}
	return false
}
