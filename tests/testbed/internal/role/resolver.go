package role

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	apiapp "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"windlass.dev/testbed/internal/bed"
)

// resolver finds the address behind a Service for calls to webhooks and
// aggregated APIs where the agent cannot listen on ClusterIP:443: a user other
// than root often may not use ports below 1024. It takes the place of the
// stock resolver in that case only.
type resolver struct {
	dir   bed.Dir
	state *bed.State

	once   sync.Once
	client kubernetes.Interface
	err    error
}

// installResolver must be called before the API server's command runs.
func installResolver(d bed.Dir, s *bed.State) {
	l, err := net.Listen("tcp4", net.JoinHostPort(bed.KubernetesIP(s.Slot), "443"))
	if err == nil {
		l.Close()
	}
	if errors.Is(err, syscall.EACCES) {
		apiapp.SetServiceResolverForTests(&resolver{dir: d, state: s})
	}
}

// ResolveEndpoint follows the rules of the stock resolver for ClusterIPs, and
// then looks whether the agent could not listen there.
func (r *resolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if namespace == "default" && name == "kubernetes" {
		return url.Parse(r.state.Server)
	}
	r.once.Do(func() {
		cfg, err := clientcmd.BuildConfigFromFlags("", r.dir.Config("node.kubeconfig"))
		if err == nil {
			cfg.QPS, cfg.Burst = -1, -1
			r.client, err = kubernetes.NewForConfig(cfg)
		}
		r.err = err
	})
	if r.err != nil {
		return nil, r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	svc, err := r.client.CoreV1().Services(namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	return resolve(svc, port, r.unbound())
}

func resolve(svc *core.Service, port int32, unbound map[string]string) (*url.URL, error) {
	at := fmt.Sprintf("%d", port)
	if svc.Spec.Type == core.ServiceTypeExternalName {
		return &url.URL{Scheme: "https", Host: net.JoinHostPort(svc.Spec.ExternalName, at)}, nil
	}
	if svc.Spec.ClusterIP == "" || svc.Spec.ClusterIP == core.ClusterIPNone {
		return nil, fmt.Errorf("service %s/%s has no cluster IP", svc.Namespace, svc.Name)
	}
	for _, p := range svc.Spec.Ports {
		if p.Port != port {
			continue
		}
		host := net.JoinHostPort(svc.Spec.ClusterIP, at)
		if target, ok := unbound[host]; ok {
			host = target
		}
		return &url.URL{Scheme: "https", Host: host}, nil
	}
	return nil, fmt.Errorf("no service port %d found for service %s/%s", port, svc.Namespace, svc.Name)
}

// unbound reads which addresses the agent failed to listen on, and what it
// would have connected them with.
func (r *resolver) unbound() map[string]string {
	out := map[string]string{}
	f, err := os.Open(r.dir.Path("agent", "unbound.txt"))
	if err != nil {
		return out
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if addr, target, ok := strings.Cut(s.Text(), "="); ok {
			out[addr] = target
		}
	}
	return out
}
