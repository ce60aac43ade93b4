package podsim

import (
	"fmt"
	"hash/fnv"
	"strings"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeIP is the address of every node.
const NodeIP = "127.0.0.1"

// status writes the state of the Pod into a copy of the status it has. What
// the kubelet does not own, such as foreign conditions, stays.
func (s *step) status() core.PodStatus {
	st := *s.pod.Status.DeepCopy()
	st.ObservedGeneration = s.pod.Generation
	if st.StartTime == nil {
		st.StartTime = new(stamp(s.accepted))
	}
	st.HostIP, st.HostIPs = NodeIP, []core.HostIP{{IP: NodeIP}}
	if s.ip != "" {
		st.PodIP, st.PodIPs = s.ip, []core.PodIP{{IP: s.ip}}
	}
	st.InitContainerStatuses, st.ContainerStatuses = nil, nil
	initialized := true
	var waitInit, waitReady []string
	for _, c := range s.containers {
		cs := s.containerStatus(c, initialized)
		if c.init {
			st.InitContainerStatuses = append(st.InitContainerStatuses, cs)
			if !c.passed() {
				initialized = false
				waitInit = append(waitInit, c.name)
			}
			if !c.sidecar {
				continue
			}
		} else {
			st.ContainerStatuses = append(st.ContainerStatuses, cs)
		}
		if !c.ready {
			waitReady = append(waitReady, c.name)
		}
	}
	if !s.over {
		s.phase = phaseOf(s.pod.Spec.RestartPolicy, s.containers)
	}
	st.Phase, st.Reason, st.Message = s.phase, s.reason, s.message
	s.conditions(&st, waitInit, waitReady)
	return st
}

func (s *step) conditions(st *core.PodStatus, waitInit, waitReady []string) {
	set := func(t core.PodConditionType, ok bool, reason, message string) {
		setCondition(st, core.PodCondition{Type: t, Status: truth(ok), Reason: reason, Message: message,
			LastTransitionTime: stamp(s.now), ObservedGeneration: s.pod.Generation})
	}
	set(core.PodReadyToStartContainers, s.ip != "" && !s.over, "", "")
	unready := fmt.Sprintf("containers with unready status: [%s]", strings.Join(waitReady, " "))
	switch {
	case s.over && s.phase == core.PodSucceeded:
		set(core.PodInitialized, true, "PodCompleted", "")
		set(core.ContainersReady, false, "PodCompleted", "")
		set(core.PodReady, false, "PodCompleted", "")
	case s.over:
		set(core.PodInitialized, true, "", "")
		set(core.ContainersReady, false, "PodFailed", "")
		set(core.PodReady, false, "PodFailed", "")
	default:
		if len(waitInit) > 0 {
			set(core.PodInitialized, false, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: [%s]", strings.Join(waitInit, " ")))
		} else {
			set(core.PodInitialized, true, "", "")
		}
		if len(waitReady) > 0 {
			set(core.ContainersReady, false, "ContainersNotReady", unready)
			set(core.PodReady, false, "ContainersNotReady", unready)
			break
		}
		set(core.ContainersReady, true, "", "")
		if gate := closedGate(s.pod); gate != "" {
			set(core.PodReady, false, "ReadinessGatesNotReady", gate)
		} else {
			set(core.PodReady, true, "", "")
		}
	}
	if s.evicted {
		set(core.DisruptionTarget, true, core.PodReasonTerminationByKubelet, s.message)
	}
}

func (s *step) containerStatus(c *container, initialized bool) core.ContainerStatus {
	spec := s.spec(c)
	cs := core.ContainerStatus{Name: c.name, Image: spec.Image, RestartCount: c.restarts, Started: new(false)}
	if c.last != nil {
		cs.LastTerminationState.Terminated = c.last
	}
	if c.state != creating || c.restarts > 0 {
		cs.ContainerID, cs.ImageID = c.id(s.pod), imageID(spec.Image)
	}
	switch {
	case c.state == running:
		cs.State.Running = &core.ContainerStateRunning{StartedAt: stamp(c.started)}
		cs.Started = new(true)
		cs.Ready = c.ready
		// A resize in place is granted at once.
		cs.AllocatedResources, cs.Resources = spec.Resources.Requests, spec.Resources.DeepCopy()
	case c.state == exited && c.reason != "":
		cs.State.Waiting = &core.ContainerStateWaiting{Reason: c.reason, Message: c.message}
		cs.LastTerminationState.Terminated = c.terminated(s.pod)
	case c.state == exited:
		cs.State.Terminated = c.terminated(s.pod)
		cs.State.Terminated.Message = c.message
		cs.Ready = c.init && c.exit == 0
	default:
		reason := c.reason
		if reason == "" || reason == "ContainerCreating" {
			reason = "ContainerCreating"
			if hasInit(s.containers) && (c.init || !initialized) {
				reason = "PodInitializing"
			}
		}
		cs.State.Waiting = &core.ContainerStateWaiting{Reason: reason, Message: c.message}
	}
	return cs
}

func hasInit(cs []*container) bool { return len(cs) > 0 && cs[0].init }

// id changes with every run, as container IDs do.
func (c *container) id(pod *core.Pod) string {
	return "containerd://" + digest(fmt.Sprintf("%s/%s/%d", pod.UID, c.name, c.restarts))
}

func imageID(image string) string {
	name, _, _ := strings.Cut(image, "@")
	return name + "@sha256:" + digest(image)
}

// digest is a stable name of 64 hex digits; nobody checks more of it.
func digest(text string) string {
	h := fnv.New128a()
	h.Write([]byte(text))
	sum := h.Sum(nil)
	return fmt.Sprintf("%x%x", sum, sum)
}

// phaseOf follows the kubelet's rules for a Pod that has not ended.
func phaseOf(policy core.RestartPolicy, cs []*container) core.PodPhase {
	run, wait := 0, 0
	for _, c := range cs {
		switch {
		case c.init && !c.sidecar:
			if !c.passed() {
				return core.PodPending
			}
		case c.init:
		case c.state == running:
			run++
		case c.state == creating && c.last == nil:
			wait++
		}
	}
	switch {
	case wait > 0:
		return core.PodPending
	case run > 0 || policy != core.RestartPolicyNever || len(cs) > 0:
		return core.PodRunning
	}
	return core.PodPending
}

func closedGate(pod *core.Pod) string {
	for _, g := range pod.Spec.ReadinessGates {
		found := false
		for _, c := range pod.Status.Conditions {
			if c.Type != g.ConditionType {
				continue
			}
			found = true
			if c.Status != core.ConditionTrue {
				return fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", g.ConditionType, c.Status)
			}
		}
		if !found {
			return fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType)
		}
	}
	return ""
}

func setCondition(st *core.PodStatus, c core.PodCondition) {
	for i := range st.Conditions {
		old := &st.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		c.LastProbeTime = old.LastProbeTime
		*old = c
		return
	}
	c.LastProbeTime = meta.Time{}
	st.Conditions = append(st.Conditions, c)
}

func truth(ok bool) core.ConditionStatus {
	if ok {
		return core.ConditionTrue
	}
	return core.ConditionFalse
}
