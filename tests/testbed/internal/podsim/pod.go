// Package podsim imitates what a kubelet makes of one Pod: which states its
// containers go through, what its status says, which events are written. It
// is free of any API call and of the clock, so that it can be tested.
package podsim

import (
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windlass.dev/testbed/internal/symptom"
)

// World is what a Pod depends on outside of itself.
type World interface {
	// MountProblem is why a volume cannot be mounted, as the kubelet words it.
	MountProblem(*core.Pod) string
	// EnvProblem is why the environment of a container cannot be made.
	EnvProblem(*core.Pod, *core.Container) string
	// PodIP gives out an address that no other Pod has.
	PodIP() string
	// EarlierFailures counts the failed Pods that the same Job had before.
	EarlierFailures(*core.Pod) int
	// Log receives what a container writes; a new run begins with first.
	Log(pod *core.Pod, container string, first bool, text string)
}

// Event is one to be recorded for the Pod or one of its containers.
type Event struct {
	Container, Kind, Reason, Message string
}

// Result is the outcome of one step.
type Result struct {
	Status core.PodStatus
	Events []Event
	// Next is when to step again; zero means: only when something changes.
	Next time.Duration
	// Delete says that the Pod has ended and its object shall go.
	Delete bool
}

// Pod is the state of one imitated Pod.
type Pod struct {
	accepted     time.Time
	stopping     time.Time
	ip           string
	containers   []*container // init containers first
	mountProblem string
	mountTold    time.Time
	over         bool
	phase        core.PodPhase
	reason       string
	message      string
	evicted      bool
	warned       bool
	ready        time.Time // since when every container is ready

	events []Event
	next   time.Time
}

// step is the state of one call of Step.
type step struct {
	*Pod
	now   time.Time
	pod   *core.Pod
	sym   symptom.Set
	world World
}

// New takes over a Pod. Its status is non-empty after a restart of the agent;
// what then counts is what it says.
func New(pod *core.Pod, now time.Time) *Pod {
	p := &Pod{accepted: now, ip: pod.Status.PodIP, phase: pod.Status.Phase}
	if pod.Status.StartTime != nil {
		p.accepted = pod.Status.StartTime.Time
	}
	p.over = pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed
	p.reason, p.message = pod.Status.Reason, pod.Status.Message
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == core.ContainerRestartPolicyAlways
		p.containers = append(p.containers, resume(c.Name, true, sidecar, pod.Status.InitContainerStatuses))
	}
	for i := range pod.Spec.Containers {
		p.containers = append(p.containers, resume(pod.Spec.Containers[i].Name, false, false, pod.Status.ContainerStatuses))
	}
	return p
}

// Step brings the Pod to the present and returns the status it should have.
// Problems are the mistakes in its annotations.
func (p *Pod) Step(now time.Time, pod *core.Pod, sym symptom.Set, problems []string, world World) Result {
	p.events, p.next = nil, time.Time{}
	s := &step{Pod: p, now: now, pod: pod, sym: sym, world: world}
	if !p.warned && len(problems) > 0 {
		for _, text := range problems {
			s.event("", core.EventTypeWarning, "TestbedAnnotation", text)
		}
		p.warned = true
	}
	remove := false
	switch {
	case pod.DeletionTimestamp != nil:
		remove = s.terminate()
	case p.over:
	default:
		s.live()
	}
	r := Result{Status: s.status(), Events: p.events, Delete: remove}
	if !p.next.IsZero() {
		r.Next = max(p.next.Sub(now), time.Millisecond)
	}
	return r
}

// live is a step of a Pod that nobody deleted.
func (s *step) live() {
	start, never := s.sym.StartAfter.Or(DefaultStart)
	if never || !s.after(s.accepted, start) {
		return
	}
	if !s.mounted() {
		return
	}
	if s.ip == "" {
		s.ip = s.world.PodIP()
	}
	if s.initialize() {
		for _, c := range s.containers {
			if !c.init {
				s.advance(c)
			}
		}
	}
	s.finish()
	s.evict()
	s.deadline()
}

// mounted waits for the Secrets and ConfigMaps of volumes. The wait is told
// again and again, as the kubelet does, so that the event counts up.
func (s *step) mounted() bool {
	if s.ip != "" {
		return true
	}
	s.mountProblem = s.world.MountProblem(s.pod)
	if s.mountProblem == "" {
		return true
	}
	if s.mountTold.IsZero() || s.now.Sub(s.mountTold) >= mountRetry {
		s.event("", core.EventTypeWarning, "FailedMount", s.mountProblem)
		s.mountTold = s.now
	}
	s.wake(s.now.Add(lookRetry))
	return false
}

// initialize runs the init containers one after the other; it reports whether
// all have done their part.
func (s *step) initialize() bool {
	for _, c := range s.containers {
		if !c.init {
			continue
		}
		s.advance(c)
		if !c.passed() {
			return false
		}
	}
	return true
}

// finish ends a Pod whose containers have all ended for good.
func (s *step) finish() {
	failed := false
	for _, c := range s.containers {
		if c.init && !c.sidecar && c.given && c.exit != 0 {
			s.end(core.PodFailed, "", "")
			return
		}
		if c.init {
			continue
		}
		if !c.given {
			return
		}
		failed = failed || c.exit != 0
	}
	phase := core.PodSucceeded
	if failed {
		phase = core.PodFailed
	}
	s.end(phase, "", "")
}

// end stops what still runs (sidecars, or everything at an eviction).
func (s *step) end(phase core.PodPhase, reason, message string) {
	code := int32(0)
	if reason != "" {
		code = exitKilled
	}
	for _, c := range s.containers {
		if c.state == running {
			if reason != "" || c.sidecar {
				s.event(c.name, core.EventTypeNormal, "Killing", "Stopping container "+c.name)
			}
			s.exited(c, code, nil)
		}
		c.ready = false
	}
	s.over, s.phase, s.reason, s.message, s.next = true, phase, reason, message, time.Time{}
}

func (s *step) evict() {
	if s.over || !s.sym.EvictAfter.Set || s.sym.EvictAfter.Never || !s.after(s.runningSince(), s.sym.EvictAfter.D) {
		return
	}
	message := "The node was low on resource: memory. Threshold quantity: 100Mi, available: 42Mi. "
	s.event("", core.EventTypeWarning, "Evicted", message)
	s.evicted = true
	s.end(core.PodFailed, "Evicted", message)
}

func (s *step) deadline() {
	if d := s.pod.Spec.ActiveDeadlineSeconds; d != nil && !s.over && s.after(s.accepted, time.Duration(*d)*time.Second) {
		message := "Pod was active on the node longer than the specified deadline"
		s.event("", core.EventTypeNormal, "DeadlineExceeded", message)
		s.end(core.PodFailed, "DeadlineExceeded", message)
	}
}

// runningSince is when the first regular container began to run; an eviction
// is counted from there.
func (s *step) runningSince() time.Time {
	var first time.Time
	for _, c := range s.containers {
		if !c.init && !c.started.IsZero() && (first.IsZero() || c.started.Before(first)) {
			first = c.started
		}
	}
	return first
}

// after tells whether a time has passed; if not, it asks to be woken then.
func (s *step) after(from time.Time, d time.Duration) bool {
	if from.IsZero() {
		return false
	}
	at := from.Add(d)
	if !s.now.Before(at) {
		return true
	}
	s.wake(at)
	return false
}

func (s *step) wake(at time.Time) {
	if s.next.IsZero() || at.Before(s.next) {
		s.next = at
	}
}

func (s *step) event(container, kind, reason, message string) {
	s.events = append(s.events, Event{Container: container, Kind: kind, Reason: reason, Message: message})
}

// stamp is a time as the API shows it.
func stamp(t time.Time) meta.Time { return meta.NewTime(t.Truncate(time.Second)) }
