package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"windlass.dev/testbed/internal/symptom"
)

// serveKubelet answers what the API server asks of a kubelet: logs and exec.
func (a *agent) serveKubelet() (*http.Server, error) {
	cert, err := tls.LoadX509KeyPair(a.dir.PKI("node.crt"), a.dir.PKI("node.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(a.dir.PKI("ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.state.Ports["node"])))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-a.synced:
			io.WriteString(w, "ok")
		default:
			http.Error(w, "the caches are not filled yet", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", known(a.serveLogs))
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", known(a.serveExec))
	mux.HandleFunc("/exec/{namespace}/{pod}/{uid}/{container}", known(a.serveExec))
	s := &http.Server{
		Handler:   mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven},
	}
	go func() {
		if err := s.ServeTLS(l, "", ""); err != http.ErrServerClosed {
			log.Fatalf("kubelet API: %v", err)
		}
	}()
	return s, nil
}

// known lets only holders of a certificate of the CA in, as a kubelet does.
func known(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		h(w, r)
	}
}

func (a *agent) requested(r *http.Request) (*core.Pod, error) {
	return a.pods.Pods(r.PathValue("namespace")).Get(r.PathValue("pod"))
}

func (a *agent) serveExec(w http.ResponseWriter, r *http.Request) {
	pod, err := a.requested(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	opts, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sym, _, _ := symptom.Parse(pod.Annotations)
	cmd := r.URL.Query()["command"]
	remotecommand.ServeExec(w, r, answer{sym.ExecOutput, sym.ExecCode}, pod.Name, string(pod.UID), r.PathValue("container"),
		cmd, opts, time.Minute, 10*time.Second, remotecommand.SupportedStreamingProtocols)
}

// answer is the one result that every command in a Pod has.
type answer struct {
	output string
	code   int
}

func (x answer) ExecInContainer(_ context.Context, _, _, _ string, _ []string, _ io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if out != nil && x.output != "" {
		fmt.Fprintln(out, x.output)
	}
	if x.code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", x.code), Code: x.code}
	}
	return nil
}
