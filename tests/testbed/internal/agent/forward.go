package agent

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"windlass.dev/testbed/internal/bed"
)

// forwards plays kube-proxy for Services that name a local process: it listens
// on ClusterIP:port, which is a loopback address, and copies. That is what
// makes webhooks with a Service reference work without a patch.
type forwards struct {
	*agent
	*listeners
	kicked chan struct{}
}

func newForwards(a *agent) *forwards {
	return &forwards{agent: a, listeners: newListeners(), kicked: make(chan struct{}, 1)}
}

// kick asks for another look at the Services.
func (f *forwards) kick() {
	select {
	case f.kicked <- struct{}{}:
	default:
	}
}

// run keeps the listeners matching. It looks twice a second in any case, for
// the file may change and a port may become free.
func (f *forwards) run(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	defer f.closeAll()
	var published string
	for {
		bad := f.set("forward", f.wanted())
		if text := f.describe(bad); text != published {
			// The API server reads this for what could not be listened on.
			if err := bed.WriteFile(f.dir.Path("agent", "unbound.txt"), []byte(text), 0o600); err != nil {
				log.Printf("forwards: %v", err)
			} else {
				published = text
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-f.kicked:
		case <-tick.C:
		}
	}
}

// rule is one line of forwards.txt or one --forward flag.
type rule struct {
	service string // namespace/name
	port    string // number or name; empty: all
	target  string
}

func parseRule(text string) (rule, error) {
	from, target, ok := strings.Cut(text, "=")
	name, port, _ := strings.Cut(from, ":")
	if !ok || strings.Count(name, "/") != 1 {
		return rule{}, fmt.Errorf("%q does not look like NS/SERVICE:PORT=HOST:PORT", text)
	}
	if _, _, err := net.SplitHostPort(target); err != nil {
		return rule{}, fmt.Errorf("%q: %w", text, err)
	}
	return rule{name, port, target}, nil
}

// rules come from the flags and from the file.
func (f *forwards) rules() []rule {
	texts := append([]string(nil), f.state.Forwards...)
	if data, err := os.ReadFile(f.dir.Forwards()); err == nil {
		texts = append(texts, configLines(data)...)
	}
	var out []rule
	for _, t := range texts {
		r, err := parseRule(t)
		if err != nil {
			f.complain(t, err)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (f *forwards) complain(key string, err error) {
	f.listeners.mu.Lock()
	defer f.listeners.mu.Unlock()
	if f.failed[key] != err.Error() {
		f.failed[key] = err.Error()
		log.Printf("forwards: %v", err)
	}
}

// configLines returns the lines of a file without comments and empty ones.
func configLines(data []byte) []string {
	var out []string
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		text, _, _ := strings.Cut(s.Text(), "#")
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func (f *forwards) wanted() map[string]endpoint {
	want := map[string]endpoint{
		// What an in-cluster client dials by default.
		net.JoinHostPort(bed.KubernetesIP(f.state.Slot), "443"): {mode: "forward", target: strings.TrimPrefix(f.state.Server, "https://")},
	}
	rules := f.rules()
	all, _ := f.services.List(labels.Everything())
	for _, svc := range all {
		ip := net.ParseIP(svc.Spec.ClusterIP)
		if ip == nil || !ip.IsLoopback() {
			continue
		}
		for _, p := range svc.Spec.Ports {
			target := forwardTarget(svc, p)
			for _, r := range rules {
				if r.service == svc.Namespace+"/"+svc.Name && (r.port == "" || portIs(p, r.port)) {
					target = r.target
				}
			}
			if target != "" {
				want[net.JoinHostPort(svc.Spec.ClusterIP, strconv.Itoa(int(p.Port)))] = endpoint{mode: "forward", target: target}
			}
		}
	}
	return want
}

// forwardTarget reads the annotation of a Service: "HOST:PORT" for all ports
// or "443=HOST:PORT,metrics=HOST:PORT".
func forwardTarget(svc *core.Service, p core.ServicePort) string {
	target := perPort(svc, "forward", p)
	if _, _, err := net.SplitHostPort(target); err != nil {
		return ""
	}
	return target
}

func portIs(p core.ServicePort, text string) bool {
	return p.Name == text && text != "" || strconv.Itoa(int(p.Port)) == text
}

// describe lists the forwards that have no listener.
func (f *forwards) describe(bad map[string]error) string {
	if len(bad) == 0 {
		return ""
	}
	var lines []string
	for addr, e := range f.wanted() {
		if bad[addr] != nil {
			lines = append(lines, addr+"="+e.target)
		}
	}
	return strings.Join(sorted(lines), "\n") + "\n"
}
