package podsim

import (
	"fmt"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

// life tells how long the present run of a container lasts and how it ends.
func (s *step) life(c *container) (after time.Duration, ends bool, code int32, reason string) {
	forever := s.pod.Spec.RestartPolicy == core.RestartPolicyAlways || c.sidecar
	after, never := DefaultRun, false
	if c.init && !c.sidecar {
		after, forever = initRun, false
	}
	if !s.hit(c) {
		// A sibling of the container that a test speaks about still has to end
		// with it, or a Job would never complete.
		if !c.init {
			after, never = s.sym.RunFor.Or(after)
		}
		return after, !forever && !never, 0, ""
	}
	after, never = s.sym.RunFor.Or(after)
	code = 1
	if s.sym.ExitCode != nil {
		code = *s.sym.ExitCode
	}
	if s.sym.OOM {
		code, reason = exitKilled, "OOMKilled"
	}
	fails := s.sym.CrashLoop || s.sym.OOM || s.sym.ExitCode != nil
	if n := s.sym.FailTimes; n > 0 && !s.sym.ImagePullError && s.sym.ConfigError == "" {
		fails = int(c.restarts)+s.world.EarlierFailures(s.pod) < n
	}
	switch {
	case never:
		return 0, false, 0, ""
	case fails:
		return after, true, code, reason
	case s.sym.FailTimes > 0:
		return after, !forever, 0, "" // it works from now on
	}
	return after, !forever || s.sym.RunFor.Set, 0, ""
}

// pullFails alternates between ErrImagePull and ImagePullBackOff.
func (s *step) pullFails(c *container, spec *core.Container) {
	failure := fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", spec.Image, spec.Image, spec.Image)
	short := fmt.Sprintf("rpc error: code = NotFound desc = %s", failure)
	switch {
	case c.reason == "ErrImagePull" && s.after(c.since, pullRetry):
		s.event(c.name, core.EventTypeNormal, "BackOff", fmt.Sprintf("Back-off pulling image %q", spec.Image))
		s.event(c.name, core.EventTypeWarning, "Failed", "Error: ImagePullBackOff")
		c.reason, c.since = "ImagePullBackOff", s.now
		c.message = fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", spec.Image, short)
		s.wake(s.now.Add(backOff(c.pulls + 1)))
	case c.reason == "ErrImagePull":
	case c.reason == "ImagePullBackOff" && !s.after(c.since, backOff(c.pulls+1)):
	default:
		s.event(c.name, core.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", spec.Image))
		s.event(c.name, core.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", spec.Image, short))
		s.event(c.name, core.EventTypeWarning, "Failed", "Error: ErrImagePull")
		c.reason, c.message, c.since = "ErrImagePull", short, s.now
		c.pulls++
		s.wake(s.now.Add(pullRetry))
	}
}

// configError words a bad key as the kubelet does, unless the test gives the
// whole message.
func configError(pod *core.Pod, text string) string {
	if strings.Contains(text, " ") {
		return text
	}
	return fmt.Sprintf("couldn't find key %s in ConfigMap %s/%s", text, pod.Namespace, "config")
}
