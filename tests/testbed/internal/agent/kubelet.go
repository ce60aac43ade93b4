package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"windlass.dev/testbed/internal/podsim"
	"windlass.dev/testbed/internal/symptom"
)

const prefix = symptom.Prefix

// kubelet plays the kubelets of all nodes.
type kubelet struct {
	*agent
	mu         sync.Mutex
	sims       map[types.UID]*podsim.Pod
	known      map[string]types.UID // namespace/name of the sims
	revisionOf map[types.UID]int
	nextIP     uint32
	given      map[string]bool // addresses given out but perhaps not in the cache yet
}

func newKubelet(a *agent) *kubelet {
	return &kubelet{agent: a, sims: map[types.UID]*podsim.Pod{}, known: map[string]types.UID{}, given: map[string]bool{}, revisionOf: map[types.UID]int{}}
}

// sync looks at one Pod.
func (k *kubelet) sync(ctx context.Context, namespace, name string) (time.Duration, error) {
	key := namespace + "/" + name
	pod, err := k.pods.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		k.forget(key, "")
		return 0, nil
	}
	if err != nil || !k.ownsNode(pod.Spec.NodeName) {
		return 0, err
	}
	sym, scope, problems := symptom.Parse(pod.Annotations)
	if covered, known := k.covers(pod, scope); !known {
		return 20 * time.Millisecond, nil // its owner is not in the cache yet
	} else if !covered {
		sym = symptom.Set{}
	}
	for _, v := range podSecretDirs(pod) { // the Secret may be older than the Pod
		k.queue.Add(item{"secret", namespace, v.secret})
	}
	sim := k.sim(key, pod)
	r := sim.Step(time.Now(), pod, sym, problems, k)
	for _, e := range r.Events {
		k.events.pod(pod, e)
	}
	if !equality.Semantic.DeepEqual(r.Status, pod.Status) {
		next := pod.DeepCopy()
		next.Status = r.Status
		if _, err := k.client.CoreV1().Pods(namespace).UpdateStatus(ctx, next, meta.UpdateOptions{}); err != nil {
			return 0, err
		}
	}
	if r.Delete && (pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0) {
		// With grace 0 already asked for, only finalizers hold the object.
		return 0, k.client.CoreV1().Pods(namespace).Delete(ctx, name, meta.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: &meta.Preconditions{UID: &pod.UID}})
	}
	return r.Next, nil
}

// sim finds the imitation of a Pod; a Pod of the same name but another UID is
// a new one.
func (k *kubelet) sim(key string, pod *core.Pod) *podsim.Pod {
	k.forget(key, pod.UID)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sims[pod.UID] == nil {
		k.sims[pod.UID] = podsim.New(pod, time.Now())
		k.known[key] = pod.UID
	}
	return k.sims[pod.UID]
}

func (k *kubelet) forget(key string, except types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if uid, ok := k.known[key]; ok && uid != except {
		delete(k.sims, uid)
		delete(k.known, key)
		delete(k.revisionOf, uid)
		k.logs.forget(uid)
	}
}

// PodIP gives out addresses of 10.244.0.0/16 in turn. Endpoints refuse
// loopback addresses, so nothing ever listens on these.
func (k *kubelet) PodIP() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := map[string]bool{}
	pods, _ := k.pods.List(labels.Everything())
	for _, p := range pods {
		used[p.Status.PodIP] = true
	}
	for ip := range k.given {
		if used[ip] {
			delete(k.given, ip) // from now on the cache knows
		}
	}
	for {
		n := k.nextIP % (254 * 254)
		k.nextIP++
		ip := fmt.Sprintf("10.244.%d.%d", 1+n/254, 1+n%254)
		if !used[ip] && !k.given[ip] {
			k.given[ip] = true
			return ip
		}
	}
}

// EarlierFailures counts failed Pods of the same owner.
func (k *kubelet) EarlierFailures(pod *core.Pod) int {
	owner := meta.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Job" {
		return 0
	}
	n := 0
	pods, _ := k.pods.Pods(pod.Namespace).List(labels.Everything())
	for _, p := range pods {
		if o := meta.GetControllerOf(p); o != nil && o.UID == owner.UID && p.UID != pod.UID && p.Status.Phase == core.PodFailed {
			n++
		}
	}
	return n
}

// Log passes on what a container writes.
func (k *kubelet) Log(pod *core.Pod, container string, first bool, text string) {
	k.logs.write(pod.UID, container, first, strings.Split(strings.TrimRight(text, "\n"), "\n"))
}
