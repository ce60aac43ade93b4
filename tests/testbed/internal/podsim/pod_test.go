package podsim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windlass.dev/testbed/internal/symptom"
)

// world is a World without problems, and the clock of a test.
type world struct {
	mount, env string
	failures   int
	logs       []string
	t          *testing.T
	now        time.Time
	pod        *core.Pod
	sim        *Pod
	sym        symptom.Set
	events     []string
	deleted    bool
}

func (w *world) MountProblem(*core.Pod) string                { return w.mount }
func (w *world) EnvProblem(*core.Pod, *core.Container) string { return w.env }
func (w *world) PodIP() string                                { return "10.244.1.1" }
func (w *world) EarlierFailures(*core.Pod) int                { return w.failures }
func (w *world) Log(_ *core.Pod, c string, _ bool, s string)  { w.logs = append(w.logs, c+": "+s) }

func newWorld(t *testing.T, policy core.RestartPolicy, sym symptom.Set) *world {
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), sym: sym}
	w.pod = &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: "p", Namespace: "ns", UID: "uid"},
		Spec:       core.PodSpec{RestartPolicy: policy, Containers: []core.Container{{Name: "main", Image: "i:1"}}},
	}
	return w
}

// pass lets time go by, stepping whenever the Pod asked for it.
func (w *world) pass(d time.Duration) core.PodStatus {
	end := w.now.Add(d)
	for range 10000 {
		if w.sim == nil {
			w.sim = New(w.pod, w.now)
		}
		r := w.sim.Step(w.now, w.pod, w.sym, nil, w)
		for _, e := range r.Events {
			w.events = append(w.events, e.Reason)
		}
		w.pod.Status = r.Status
		w.deleted = w.deleted || r.Delete
		if r.Next == 0 || w.now.Add(r.Next).After(end) {
			w.now = end
			return w.pod.Status
		}
		w.now = w.now.Add(r.Next)
	}
	w.t.Fatal("the pod never comes to rest")
	return core.PodStatus{}
}

func main0(s core.PodStatus) core.ContainerStatus { return s.ContainerStatuses[0] }

func ready(s core.PodStatus) bool {
	for _, c := range s.Conditions {
		if c.Type == core.PodReady {
			return c.Status == core.ConditionTrue
		}
	}
	return false
}

func waiting(c core.ContainerStatus) string {
	if c.State.Waiting == nil {
		return ""
	}
	return c.State.Waiting.Reason
}

func TestPlainPodBecomesReady(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{})
	s := w.pass(time.Millisecond)
	if s.Phase != core.PodPending || waiting(main0(s)) != "ContainerCreating" || s.StartTime == nil {
		t.Fatalf("at first: %+v", s)
	}
	s = w.pass(DefaultStart)
	if s.Phase != core.PodRunning || ready(s) || s.PodIP == "" {
		t.Fatalf("after the start: %+v", s)
	}
	s = w.pass(DefaultReady)
	if !ready(s) || !main0(s).Ready {
		t.Fatalf("after the wait for ready: %+v", s)
	}
	if want := []string{"Pulling", "Pulled", "Created", "Started"}; !slices.Equal(w.events, want) {
		t.Errorf("events %v, want %v", w.events, want)
	}
	if again := w.pass(time.Hour); main0(again).RestartCount != 0 || !ready(again) {
		t.Error("it does not stay so")
	}
}

func TestJobPodEnds(t *testing.T) {
	for code, phase := range map[int32]core.PodPhase{0: core.PodSucceeded, 3: core.PodFailed} {
		w := newWorld(t, core.RestartPolicyNever, symptom.Set{ExitCode: &code})
		s := w.pass(time.Minute)
		if s.Phase != phase || main0(s).State.Terminated.ExitCode != code {
			t.Errorf("exit code %d: %+v", code, s)
		}
	}
}

func TestCrashLoop(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{CrashLoop: true})
	s := w.pass(1500 * time.Millisecond)
	c := main0(s)
	if waiting(c) != "CrashLoopBackOff" || c.LastTerminationState.Terminated == nil || c.LastTerminationState.Terminated.ExitCode != 1 {
		t.Fatalf("after a while: %+v", c)
	}
	if s.Phase != core.PodRunning || ready(s) {
		t.Errorf("phase %s, ready %v", s.Phase, ready(s))
	}
	before := c.RestartCount
	if after := main0(w.pass(30 * time.Second)).RestartCount; after <= before || after > before+6 {
		t.Errorf("restarts went from %d to %d in 30 s", before, after)
	}
}

func TestFailTimes(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{FailTimes: 2})
	if s := w.pass(time.Minute); main0(s).RestartCount != 2 || !ready(s) {
		t.Errorf("%+v", main0(s))
	}
	w = newWorld(t, core.RestartPolicyNever, symptom.Set{FailTimes: 2})
	w.failures = 1
	if s := w.pass(time.Minute); s.Phase != core.PodFailed {
		t.Errorf("second of two failing pods of a job: %s", s.Phase)
	}
	w = newWorld(t, core.RestartPolicyNever, symptom.Set{FailTimes: 2})
	w.failures = 2
	if s := w.pass(time.Minute); s.Phase != core.PodSucceeded {
		t.Errorf("third pod of a job: %s", s.Phase)
	}
}

func TestImagePull(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{ImagePullError: true, FailTimes: 2})
	seen := map[string]bool{}
	for range 100 {
		seen[waiting(main0(w.pass(50*time.Millisecond)))] = true
	}
	if !seen["ErrImagePull"] || !seen["ImagePullBackOff"] {
		t.Errorf("seen %v", seen)
	}
	if s := w.pass(time.Minute); !ready(s) || main0(s).RestartCount != 0 {
		t.Errorf("the third pull: %+v", main0(s))
	}
}

func TestMissingReferences(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{})
	w.mount = "no secret"
	s := w.pass(5 * time.Second)
	if s.Phase != core.PodPending || waiting(main0(s)) != "ContainerCreating" || w.events[0] != "FailedMount" {
		t.Errorf("without a volume: %+v %v", s, w.events)
	}
	w.mount, w.env = "", "no key"
	if s = w.pass(5 * time.Second); waiting(main0(s)) != "CreateContainerConfigError" {
		t.Errorf("without a key: %+v", s)
	}
	w.env = ""
	if s = w.pass(5 * time.Second); !ready(s) {
		t.Errorf("with all: %+v", s)
	}
}

func TestTermination(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{StopAfter: symptom.Delay{Set: true, D: time.Minute}})
	w.pass(time.Second)
	w.pod.DeletionTimestamp, w.pod.DeletionGracePeriodSeconds = new(meta.NewTime(w.now)), new(int64(2))
	if w.pass(time.Second); w.deleted {
		t.Fatal("it did not use its grace period")
	}
	s := w.pass(2 * time.Second)
	if !w.deleted || s.Phase != core.PodFailed || main0(s).State.Terminated.ExitCode != 137 {
		t.Errorf("after the grace period: %+v", s)
	}

	w = newWorld(t, core.RestartPolicyAlways, symptom.Set{StopAfter: symptom.Delay{Set: true, Never: true}})
	w.pass(time.Second)
	w.pod.DeletionTimestamp, w.pod.DeletionGracePeriodSeconds = new(meta.NewTime(w.now)), new(int64(2))
	if w.pass(time.Hour); w.deleted {
		t.Error("a stuck pod went away")
	}
}

func TestInitAndSidecar(t *testing.T) {
	w := newWorld(t, core.RestartPolicyNever, symptom.Set{})
	w.pod.Spec.InitContainers = []core.Container{{Name: "init", Image: "i:1"}, {Name: "side", Image: "i:1", RestartPolicy: new(core.ContainerRestartPolicyAlways)}}
	s := w.pass(DefaultStart + time.Millisecond)
	if s.Phase != core.PodPending || waiting(main0(s)) != "PodInitializing" {
		t.Errorf("while it initializes: %+v", s)
	}
	s = w.pass(time.Minute)
	if s.Phase != core.PodSucceeded || s.InitContainerStatuses[1].State.Terminated == nil {
		t.Errorf("in the end: %+v", s)
	}
}

// A restart of the agent makes a new Pod from the status; nothing may change.
func TestResume(t *testing.T) {
	for name, sym := range map[string]symptom.Set{"ready": {}, "crash": {CrashLoop: true}, "never": {ReadyAfter: symptom.Delay{Set: true, Never: true}}} {
		w := newWorld(t, core.RestartPolicyAlways, sym)
		before := main0(w.pass(10 * time.Second))
		w.sim = nil
		after := main0(w.pass(0))
		if before.RestartCount != after.RestartCount || before.Ready != after.Ready || waiting(before) != waiting(after) || before.ContainerID != after.ContainerID {
			t.Errorf("%s: before %+v\nafter %+v", name, before, after)
		}
	}
}

func TestEviction(t *testing.T) {
	w := newWorld(t, core.RestartPolicyAlways, symptom.Set{EvictAfter: symptom.Delay{Set: true, D: time.Second}})
	s := w.pass(time.Minute)
	if s.Phase != core.PodFailed || s.Reason != "Evicted" || !slices.Contains(w.events, "Evicted") {
		t.Errorf("%+v %v", s, w.events)
	}
}

func TestBackOff(t *testing.T) {
	got := ""
	for n := range 8 {
		got += fmt.Sprint(backOff(n), " ")
	}
	if want := "0s 0s 1s 2s 4s 8s 10s 10s "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
