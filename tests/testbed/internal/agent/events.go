package agent

import (
	"fmt"
	"sync"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"

	"windlass.dev/testbed/internal/podsim"
)

// recorders writes events with the stock recorder, which counts repetitions
// up just as it does within a kubelet.
type recorders struct {
	broadcaster record.EventBroadcaster
	mu          sync.Mutex
	bySource    map[core.EventSource]record.EventRecorder
}

func newRecorders(client kubernetes.Interface) *recorders {
	// Everything happens faster here than in a cluster, so the limit on events of
	// one object must be wider than the usual 25.
	b := record.NewBroadcaster(record.WithCorrelatorOptions(record.CorrelatorOptions{BurstSize: 500, QPS: 5}))
	b.StartRecordingToSink(&typed.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return &recorders{broadcaster: b, bySource: map[core.EventSource]record.EventRecorder{}}
}

func (r *recorders) stop() { r.broadcaster.Shutdown() }

func (r *recorders) source(component, host string) record.EventRecorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := core.EventSource{Component: component, Host: host}
	if r.bySource[s] == nil {
		r.bySource[s] = r.broadcaster.NewRecorder(scheme.Scheme, s)
	}
	return r.bySource[s]
}

// pod records an event of the kubelet of a Pod's node.
func (r *recorders) pod(pod *core.Pod, e podsim.Event) {
	path := ""
	if e.Container != "" {
		path = fmt.Sprintf("spec.containers{%s}", e.Container)
		for _, c := range pod.Spec.InitContainers {
			if c.Name == e.Container {
				path = fmt.Sprintf("spec.initContainers{%s}", e.Container)
			}
		}
	}
	ref, err := reference.GetPartialReference(scheme.Scheme, pod, path)
	if err != nil {
		logf("event for %s/%s: %v", pod.Namespace, pod.Name, err)
		return
	}
	r.source("kubelet", pod.Spec.NodeName).Event(ref, e.Kind, e.Reason, e.Message)
}

// object records an event of one of the controllers that the agent plays.
func (r *recorders) object(component string, o runtime.Object, kind, reason, format string, args ...any) {
	r.source(component, "").Eventf(o, kind, reason, format, args...)
}
