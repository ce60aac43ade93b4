package agent

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"

	"windlass.dev/testbed/internal/pki"
)

// httpAnswer is what a load balancer answers. The annotations are read with
// every request, so that a test may change them at any time.
func (b *balancers) httpAnswer(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		svc := b.lookUp(e.service)
		if svc == nil {
			http.Error(w, "the Service is gone", http.StatusServiceUnavailable)
			return
		}
		status, body := http.StatusOK, b.defaultBody(e, svc)
		if text, ok := annotation(svc.Annotations, "http-status"); ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 200 || n > 599 {
				n, body = http.StatusInternalServerError, fmt.Sprintf("http-status: %q is no status from 200 to 599\n", text)
			}
			status = n
		}
		if text, ok := svc.Annotations[prefix+"http-body"]; ok {
			body = text
		}
		if text, ok := annotation(svc.Annotations, "http-delay"); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				log.Printf("%s: http-delay: %v", e.service, err)
			}
			select {
			case <-time.After(d):
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

func (b *balancers) defaultBody(e endpoint, svc *core.Service) string {
	return fmt.Sprintf("service %s port %d\npods %s\n", e.service, e.port, strings.Join(b.readyPods(svc), " "))
}

// tcpAnswer is what a raw connection receives before it is closed.
func (b *balancers) tcpAnswer(e endpoint) []byte {
	svc := b.lookUp(e.service)
	if svc == nil {
		return nil
	}
	if text, ok := annotation(svc.Annotations, "http-delay"); ok {
		if d, err := time.ParseDuration(text); err == nil {
			time.Sleep(d)
		}
	}
	return []byte(svc.Annotations[prefix+"http-body"])
}

func (b *balancers) lookUp(key string) *core.Service {
	ns, name, _ := strings.Cut(key, "/")
	svc, err := b.services.Services(ns).Get(name)
	if err != nil {
		return nil
	}
	return svc
}

// certificate makes a server certificate that the testbed's CA signed.
func (b *balancers) certificate(name string) (*tls.Certificate, error) {
	ca, err := pki.LoadCA(b.dir.Path("pki"))
	if err != nil {
		return nil, err
	}
	pair, err := ca.Issue(pki.Request{CommonName: name, Hosts: strings.Split(name, ",")})
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	return &cert, err
}
