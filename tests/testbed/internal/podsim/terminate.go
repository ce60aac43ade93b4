package podsim

import (
	"time"

	core "k8s.io/api/core/v1"
)

// terminate is a step of a Pod that is being deleted. It reports whether the
// object may go.
func (s *step) terminate() bool {
	if s.over {
		return s.stopping.IsZero() || !s.sym.StopAfter.Never
	}
	if s.stopping.IsZero() {
		s.stopping = s.now
		for _, c := range s.containers {
			if c.state == running {
				s.event(c.name, core.EventTypeNormal, "Killing", "Stopping container "+c.name)
			}
		}
	}
	if s.sym.StopAfter.Never {
		// Stuck for good, as behind a broken node: only a forced deletion helps.
		return false
	}
	stop, _ := s.sym.StopAfter.Or(DefaultStop)
	code := int32(0)
	if g := s.pod.DeletionGracePeriodSeconds; g != nil && time.Duration(*g)*time.Second < stop {
		stop, code = time.Duration(*g)*time.Second, exitKilled
	}
	anyRunning := false
	for _, c := range s.containers {
		anyRunning = anyRunning || c.state == running
	}
	if anyRunning && !s.after(s.stopping, stop) {
		return false
	}
	phase := core.PodSucceeded
	for _, c := range s.containers {
		switch c.state {
		case running:
			s.exited(c, code, nil)
		case creating: // the kubelet finds no trace of it
			c.state, c.exit, c.exitReason = exited, exitKilled, "ContainerStatusUnknown"
			c.message = "The container could not be located when the pod was terminated"
			c.finished = s.now
		}
		c.reason, c.given, c.ready = "", true, false
		if !c.init && c.exit != 0 {
			phase = core.PodFailed
		}
	}
	s.over, s.phase = true, phase
	return true
}
