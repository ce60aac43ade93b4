package agent

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"windlass.dev/testbed/internal/bed"
	"windlass.dev/testbed/internal/symptom"
)

const (
	balancerFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	balancerDelay     = 200 * time.Millisecond
	bindRetry         = 2 * time.Second
)

// balancers plays the load balancer controller of a cloud.
type balancers struct {
	*agent
	*listeners
	mu     sync.Mutex
	seen   map[string]time.Time // since when a Service wants an address
	told   map[string]bool      // Services whose failed ports were reported
	owners map[string]string    // address to namespace/name
}

func newBalancers(a *agent) *balancers {
	b := &balancers{agent: a, listeners: newListeners(), seen: map[string]time.Time{}, told: map[string]bool{}, owners: map[string]string{}}
	b.answer, b.greet, b.certify = b.httpAnswer, b.tcpAnswer, b.certificate
	return b
}

// sliceChanged looks at the Service again whose endpoints changed.
func (a *agent) sliceChanged(o any) {
	s, ok := o.(*discovery.EndpointSlice)
	if ok && s.Labels[discovery.LabelServiceName] != "" {
		a.queue.Add(item{"service", s.Namespace, s.Labels[discovery.LabelServiceName]})
	}
}

// service looks at one Service.
func (a *agent) service(ctx context.Context, namespace, name string) (time.Duration, error) {
	a.forwards.kick()
	return a.balancers.sync(ctx, namespace, name)
}

func (b *balancers) sync(ctx context.Context, namespace, name string) (time.Duration, error) {
	key := namespace + "/" + name
	svc, err := b.services.Services(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		b.drop(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if svc.DeletionTimestamp != nil || svc.Spec.Type != core.ServiceTypeLoadBalancer || svc.Spec.LoadBalancerClass != nil {
		b.drop(key)
		return 0, b.release(ctx, svc)
	}
	if len(svc.Status.LoadBalancer.Ingress) == 0 {
		return b.ensure(ctx, key, svc)
	}
	b.claim(svc.Status.LoadBalancer.Ingress[0].IP, key)
	bad := b.set(key, b.wanted(key, svc))
	if len(bad) == 0 {
		return 0, nil
	}
	b.report(key, svc, bad)
	return bindRetry, nil
}

// ensure gives a Service its address.
func (b *balancers) ensure(ctx context.Context, key string, svc *core.Service) (time.Duration, error) {
	delay := symptom.Delay{}
	if text, ok := annotation(svc.Annotations, "lb-after"); ok {
		if text == "never" {
			return 0, nil
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			b.events.object("service-controller", svc, core.EventTypeWarning, "TestbedAnnotation", "lb-after: %q is neither a duration nor never", text)
			return 0, nil
		}
		delay = symptom.Delay{Set: true, D: d}
	}
	b.mu.Lock()
	first, ok := b.seen[key]
	if !ok {
		first = time.Now()
		b.seen[key] = first
	}
	b.mu.Unlock()
	if !ok {
		b.events.object("service-controller", svc, core.EventTypeNormal, "EnsuringLoadBalancer", "Ensuring load balancer")
	}
	after, _ := delay.Or(balancerDelay)
	if wait := time.Until(first.Add(after)); wait > 0 {
		return wait, nil
	}
	services := b.client.CoreV1().Services(svc.Namespace)
	next := svc.DeepCopy()
	if !slices.Contains(next.Finalizers, balancerFinalizer) {
		next.Finalizers = append(next.Finalizers, balancerFinalizer)
		var err error
		if next, err = services.Update(ctx, next, meta.UpdateOptions{}); err != nil {
			return 0, err
		}
	}
	ip, err := b.choose(key, svc)
	if err != nil {
		b.events.object("service-controller", svc, core.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer: %v", err)
		return bindRetry, nil
	}
	next.Status.LoadBalancer.Ingress = []core.LoadBalancerIngress{{IP: ip, IPMode: new(core.LoadBalancerIPModeVIP)}}
	if _, err := services.UpdateStatus(ctx, next, meta.UpdateOptions{}); err != nil {
		return 0, err
	}
	b.events.object("service-controller", svc, core.EventTypeNormal, "EnsuredLoadBalancer", "Ensured load balancer")
	return 0, nil
}

// choose picks an address. It depends on the name, so that a Service that is
// made anew mostly gets the address it had.
func (b *balancers) choose(key string, svc *core.Service) (string, error) {
	b.learn()
	if ip := svc.Spec.LoadBalancerIP; ip != "" { // deprecated, but still what charts ask for
		_, block, _ := net.ParseCIDR(b.state.LoadBalancerRange)
		if p := net.ParseIP(ip); p == nil || !block.Contains(p) {
			return "", fmt.Errorf("requested address %s is outside of %s", ip, b.state.LoadBalancerRange)
		}
		if !b.claim(ip, key) {
			return "", fmt.Errorf("requested address %s is in use", ip)
		}
		return ip, nil
	}
	h := fnv.New32a()
	h.Write([]byte(key))
	for i := range uint32(bed.LoadBalancerIPs) {
		if ip := bed.LoadBalancerIP(b.state.Slot, h.Sum32()%bed.LoadBalancerIPs+i); b.claim(ip, key) {
			return ip, nil
		}
	}
	return "", fmt.Errorf("no address left in %s", b.state.LoadBalancerRange)
}

// learn takes the addresses of all Services from the cache.
func (b *balancers) learn() {
	all, _ := b.services.List(labels.Everything())
	for _, s := range all {
		for _, i := range s.Status.LoadBalancer.Ingress {
			b.claim(i.IP, s.Namespace+"/"+s.Name)
		}
	}
}

func (b *balancers) claim(ip, key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if owner, ok := b.owners[ip]; ok {
		return owner == key
	}
	b.owners[ip] = key
	return true
}

// drop stops answering for a Service and frees its address.
func (b *balancers) drop(key string) {
	b.set(key, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.seen, key)
	delete(b.told, key)
	for ip, owner := range b.owners {
		if owner == key {
			delete(b.owners, ip)
		}
	}
}

// release takes address and finalizer away from a Service that is deleted or
// no load balancer any more.
func (b *balancers) release(ctx context.Context, svc *core.Service) error {
	services := b.client.CoreV1().Services(svc.Namespace)
	if svc.Spec.LoadBalancerClass != nil && svc.DeletionTimestamp == nil {
		return nil // somebody else's
	}
	next := svc.DeepCopy()
	if len(next.Status.LoadBalancer.Ingress) > 0 && svc.DeletionTimestamp == nil {
		next.Status.LoadBalancer = core.LoadBalancerStatus{}
		var err error
		if next, err = services.UpdateStatus(ctx, next, meta.UpdateOptions{}); err != nil {
			return err
		}
	}
	if i := slices.Index(next.Finalizers, balancerFinalizer); i >= 0 {
		next.Finalizers = slices.Delete(next.Finalizers, i, i+1)
		_, err := services.Update(ctx, next, meta.UpdateOptions{})
		return err
	}
	return nil
}

// wanted lists what has to answer now: nothing without a ready endpoint.
func (b *balancers) wanted(key string, svc *core.Service) map[string]endpoint {
	if len(b.readyPods(svc)) == 0 {
		return nil
	}
	want := map[string]endpoint{}
	for _, p := range svc.Spec.Ports {
		if p.Protocol != "" && p.Protocol != core.ProtocolTCP {
			continue
		}
		e := endpoint{mode: "http", service: key, port: p.Port}
		if perPort(svc, "protocol", p) == "tcp" {
			e.mode = "tcp"
		}
		if perPort(svc, "tls", p) == "true" {
			e.tlsName = svc.Name + "." + svc.Namespace + ".svc"
			if name, ok := annotation(svc.Annotations, "tls-name"); ok {
				e.tlsName = name
			}
		}
		if target := forwardTarget(svc, p); target != "" {
			e = endpoint{mode: "forward", target: target}
		}
		for _, i := range svc.Status.LoadBalancer.Ingress {
			want[net.JoinHostPort(i.IP, strconv.Itoa(int(p.Port)))] = e
		}
	}
	return want
}

// perPort reads an annotation that is one value for all ports, or a list such
// as "5672=tcp,management=http".
func perPort(svc *core.Service, name string, p core.ServicePort) string {
	text, _ := annotation(svc.Annotations, name)
	for part := range strings.SplitSeq(text, ",") {
		port, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			port, value = "", port
		}
		if port == "" || portIs(p, port) {
			return value
		}
	}
	return ""
}

// readyPods names the ready endpoints of a Service.
func (b *balancers) readyPods(svc *core.Service) []string {
	all, _ := b.slices.EndpointSlices(svc.Namespace).List(labels.SelectorFromSet(labels.Set{discovery.LabelServiceName: svc.Name}))
	found := map[string]bool{}
	for _, s := range all {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			if e.TargetRef != nil {
				found[e.TargetRef.Name] = true
			} else {
				found[strings.Join(e.Addresses, ",")] = true
			}
		}
	}
	names := make([]string, 0, len(found))
	for n := range found {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// report tells once that an address does not answer. A user other than root
// may often not listen on ports below 1024.
func (b *balancers) report(key string, svc *core.Service, bad map[string]error) {
	b.mu.Lock()
	told := b.told[key]
	b.told[key] = true
	b.mu.Unlock()
	if !told {
		for _, err := range bad {
			b.events.object("service-controller", svc, core.EventTypeWarning, "SyncLoadBalancerFailed", "Error syncing load balancer: %v", err)
		}
	}
}
