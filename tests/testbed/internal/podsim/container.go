package podsim

import (
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windlass.dev/testbed/internal/symptom"
)

type state int

const (
	creating state = iota
	running
	exited
)

const exitKilled = 137

// container is the state of one container of a Pod.
type container struct {
	name          string
	init, sidecar bool
	state         state
	image         string
	reason        string // why it waits
	message       string
	since         time.Time // of the present state or reason
	started       time.Time // of the present run
	finished      time.Time
	exit          int32
	exitReason    string
	given         bool // it has ended and will not be started again
	last          *core.ContainerStateTerminated
	restarts      int32
	failures      int // runs that ended, in a row
	pulls         int // failed pulls and failed configurations
	pulled        bool
	wasReady      bool
	ready         bool
	readySince    time.Time
	probed        time.Time
}

// resume makes a container from a status, empty for a new one.
func resume(name string, init, sidecar bool, statuses []core.ContainerStatus) *container {
	c := &container{name: name, init: init, sidecar: sidecar, reason: "ContainerCreating"}
	for i := range statuses {
		st := &statuses[i]
		if st.Name != name {
			continue
		}
		c.restarts, c.failures, c.ready, c.wasReady = st.RestartCount, int(st.RestartCount), st.Ready, st.Ready
		c.last, c.image = st.LastTerminationState.Terminated, st.Image
		switch {
		case st.State.Running != nil:
			c.state, c.pulled = running, true
			c.started = st.State.Running.StartedAt.Time
			c.since, c.readySince = c.started, c.started
		case st.State.Terminated != nil:
			t := st.State.Terminated
			c.state, c.exit, c.exitReason = exited, t.ExitCode, t.Reason
			c.started, c.finished, c.since = t.StartedAt.Time, t.FinishedAt.Time, t.FinishedAt.Time
			c.failures++
		case st.State.Waiting != nil && st.State.Waiting.Reason == "CrashLoopBackOff" && c.last != nil:
			c.state, c.exit, c.exitReason = exited, c.last.ExitCode, c.last.Reason
			c.started, c.finished, c.since = c.last.StartedAt.Time, c.last.FinishedAt.Time, c.last.FinishedAt.Time
			c.reason, c.message = st.State.Waiting.Reason, st.State.Waiting.Message
			c.failures++
		case st.State.Waiting != nil:
			c.reason, c.message = st.State.Waiting.Reason, st.State.Waiting.Message
		}
	}
	return c
}

// passed tells whether the next init container may begin.
func (c *container) passed() bool {
	if c.sidecar {
		return c.state == running
	}
	return c.state == exited && c.exit == 0
}

func (s *step) spec(c *container) *core.Container {
	for i := range s.pod.Spec.InitContainers {
		if s.pod.Spec.InitContainers[i].Name == c.name {
			return &s.pod.Spec.InitContainers[i]
		}
	}
	for i := range s.pod.Spec.Containers {
		if s.pod.Spec.Containers[i].Name == c.name {
			return &s.pod.Spec.Containers[i]
		}
	}
	return &core.Container{Name: c.name}
}

func (s *step) hit(c *container) bool { return hit(s.pod, s.sym, c.name) }

// hit tells whether the symptoms mean this container: the one they name, else
// the first regular one.
func hit(pod *core.Pod, sym symptom.Set, name string) bool {
	if sym.Container != "" {
		return name == sym.Container
	}
	return name == pod.Spec.Containers[0].Name
}

// FirstLog is what a container writes when it starts.
func FirstLog(pod *core.Pod, sym symptom.Set, name string) string {
	if sym.HasLogs && hit(pod, sym, name) {
		return sym.Logs
	}
	return fmt.Sprintf("%s started (%s)", name, (&step{pod: pod}).spec(&container{name: name}).Image)
}

// advance moves one container as far as the time allows.
func (s *step) advance(c *container) {
	for range 4 { // creating, running, exited, and creating again
		before := c.state
		switch c.state {
		case creating:
			s.create(c)
		case running:
			s.run(c)
		case exited:
			s.restart(c)
		}
		if c.state == before {
			return
		}
	}
}

// create pulls the image, makes the environment and starts the container.
func (s *step) create(c *container) {
	spec := s.spec(c)
	fails := s.hit(c) && (s.sym.FailTimes == 0 || c.pulls < s.sym.FailTimes)
	if s.sym.ImagePullError && fails {
		s.pullFails(c, spec)
		return
	}
	if !c.pulled {
		if c.reason == "ImagePullBackOff" || c.reason == "ErrImagePull" || c.restarts == 0 {
			s.event(c.name, core.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", spec.Image))
			s.event(c.name, core.EventTypeNormal, "Pulled", fmt.Sprintf("Successfully pulled image %q in 60ms (60ms including waiting). Image size: 73400320 bytes.", spec.Image))
		}
		c.pulled = true
	} else if c.restarts > 0 && c.reason == "" {
		s.event(c.name, core.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", spec.Image))
	}
	problem := ""
	if fails && s.sym.ConfigError != "" {
		problem = configError(s.pod, s.sym.ConfigError)
	} else {
		problem = s.world.EnvProblem(s.pod, spec)
	}
	if problem != "" {
		if c.reason != "CreateContainerConfigError" || s.now.Sub(c.since) >= time.Second {
			s.event(c.name, core.EventTypeWarning, "Failed", "Error: "+problem)
			c.reason, c.since = "CreateContainerConfigError", s.now
			c.pulls++
		}
		c.message = problem
		s.wake(s.now.Add(lookRetry))
		return
	}
	c.state, c.reason, c.message, c.image = running, "", "", spec.Image
	c.since, c.started, c.ready, c.wasReady = s.now, s.now, false, false
	s.event(c.name, core.EventTypeNormal, "Created", "Container created")
	s.event(c.name, core.EventTypeNormal, "Started", "Container started")
	s.world.Log(s.pod, c.name, true, FirstLog(s.pod, s.sym, c.name))
}

// run lets a running container become ready, fall back, or end.
func (s *step) run(c *container) {
	spec := s.spec(c)
	if !c.init && spec.Image != c.image { // the image of a live Pod may be changed
		s.event(c.name, core.EventTypeNormal, "Killing", fmt.Sprintf("Container %s definition changed, will be restarted", c.name))
		s.exited(c, 0, nil)
		s.again(c)
		return
	}
	life, ends, code, reason := s.life(c)
	if ends && s.after(c.started, life) {
		s.exited(c, code, &reason)
		return
	}
	if c.init && !c.sidecar {
		return
	}
	wait, never := time.Duration(0), false
	if !c.init && (s.sym.Container == "" || s.hit(c)) {
		wait, never = s.sym.ReadyAfter.Or(DefaultReady)
	}
	if ends && code != 0 && !s.sym.ReadyAfter.Set {
		// A run that will fail is not ready in between, or a roll-out would
		// take the moment for success. ready-after asks for just that.
		return
	}
	switch {
	case c.wasReady:
		if u := s.sym.UnreadyAfter; u.Set && !u.Never && !c.init && s.after(c.readySince, u.D) {
			c.ready = false
			s.unhealthy(c, spec)
		}
	case never:
		s.unhealthy(c, spec)
	case s.after(c.started, wait):
		c.ready, c.wasReady, c.readySince = true, true, s.now
		if u := s.sym.UnreadyAfter; u.Set && !u.Never {
			s.wake(s.now.Add(u.D))
		}
	case wait > probeRetry:
		s.unhealthy(c, spec)
	}
}

// unhealthy tells of a failed readiness probe from time to time.
func (s *step) unhealthy(c *container, spec *core.Container) {
	if s.now.Sub(c.probed) >= probeRetry {
		c.probed = s.now
		message := "Readiness probe failed: HTTP probe failed with statuscode: 503"
		if p := spec.ReadinessProbe; p != nil && p.TCPSocket != nil {
			message = fmt.Sprintf("Readiness probe failed: dial tcp %s:%s: connect: connection refused", s.ip, p.TCPSocket.Port.String())
		} else if p != nil && p.Exec != nil {
			message = "Readiness probe failed: command returned exit code 1"
		}
		s.event(c.name, core.EventTypeWarning, "Unhealthy", message)
	}
	s.wake(c.probed.Add(probeRetry))
}

// exited ends the present run.
func (s *step) exited(c *container, code int32, reason *string) {
	c.state, c.finished, c.since, c.exit = exited, s.now, s.now, code
	c.ready, c.reason, c.message = false, "", ""
	c.exitReason = "Completed"
	if code != 0 {
		c.exitReason = "Error"
	}
	if reason != nil && *reason != "" {
		c.exitReason = *reason
	}
	c.failures++
	s.world.Log(s.pod, c.name, false, fmt.Sprintf("%s ended with exit code %d", c.name, code))
}

// restart decides what becomes of an ended container.
func (s *step) restart(c *container) {
	if !s.restarts(c) {
		c.given = true
		return
	}
	wait := backOff(c.failures)
	if wait == 0 {
		if s.after(c.finished, firstRetry) {
			s.again(c)
		}
		return
	}
	if s.after(c.finished, wait) {
		s.again(c)
		return
	}
	if c.reason == "" {
		id := fmt.Sprintf("%s_%s(%s)", s.pod.Name, s.pod.Namespace, s.pod.UID)
		c.reason = "CrashLoopBackOff"
		c.message = fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", wait, c.name, id)
		s.event(c.name, core.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.name, id))
	}
}

func (s *step) restarts(c *container) bool {
	switch {
	case c.sidecar:
		return true
	case c.init:
		return c.exit != 0 && s.pod.Spec.RestartPolicy != core.RestartPolicyNever
	case s.pod.Spec.RestartPolicy == core.RestartPolicyAlways:
		return true
	case s.pod.Spec.RestartPolicy == core.RestartPolicyOnFailure:
		return c.exit != 0
	}
	return false
}

// again prepares the next run.
func (s *step) again(c *container) {
	c.last = c.terminated(s.pod)
	c.restarts++
	c.state, c.since, c.reason, c.message = creating, s.now, "", ""
}

func (c *container) terminated(pod *core.Pod) *core.ContainerStateTerminated {
	return &core.ContainerStateTerminated{
		ExitCode: c.exit, Reason: c.exitReason, ContainerID: c.id(pod),
		StartedAt: stampOrZero(c.started), FinishedAt: stampOrZero(c.finished),
	}
}

func stampOrZero(t time.Time) meta.Time {
	if t.IsZero() {
		return meta.Time{}
	}
	return stamp(t)
}
