package agent

import (
	"encoding/json"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windlass.dev/testbed/internal/bed"
	"windlass.dev/testbed/internal/symptom"
)

const deploymentRevision = "deployment.kubernetes.io/revision"

// numbering remembers the first number of every revision. When an old template
// is applied again, the controllers give its revision a new, higher number;
// for a symptom "from the second revision on" the old template must stay the
// first. The file carries this over a restart.
type numbering struct {
	mu    sync.Mutex
	file  string
	first map[types.UID]int
}

func loadNumbering(file string) *numbering {
	n := &numbering{file: file, first: map[types.UID]int{}}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &n.first); err != nil {
			log.Printf("%s: %v: revisions are counted anew", file, err)
		}
	}
	return n
}

// see takes notice of a ControllerRevision or ReplicaSet.
func (n *numbering) see(o any) {
	switch r := o.(type) {
	case *apps.ControllerRevision:
		n.note(r.UID, int(r.Revision))
	case *apps.ReplicaSet:
		if v, err := strconv.Atoi(r.Annotations[deploymentRevision]); err == nil {
			n.note(r.UID, v)
		}
	}
}

func (n *numbering) note(uid types.UID, revision int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.first[uid]; ok {
		return
	}
	n.first[uid] = revision
	data, err := json.Marshal(n.first)
	if err == nil {
		err = bed.WriteFile(n.file, data, 0o600)
	}
	if err != nil {
		log.Printf("remember revisions: %v", err)
	}
}

func (n *numbering) of(uid types.UID) (int, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.first[uid]
	return v, ok
}

// covers tells whether symptoms act on a Pod. It is unknown as long as the
// object that numbers the revision is not in the cache.
func (k *kubelet) covers(pod *core.Pod, scope symptom.Scope) (covered, known bool) {
	revision := 0
	if scope.NeedsRevision() {
		if revision, known = k.remembered(pod); !known {
			return false, false
		}
	}
	return scope.Covers(ordinal(pod), revision), true
}

// remembered is the revision of a Pod, found once: the object that numbers it
// may be tidied away while the Pod lives.
func (k *kubelet) remembered(pod *core.Pod) (int, bool) {
	k.mu.Lock()
	revision, ok := k.revisionOf[pod.UID]
	k.mu.Unlock()
	if ok {
		return revision, true
	}
	revision, ok = k.revision(pod)
	if !ok && pod.Status.StartTime == nil && pod.DeletionTimestamp == nil && time.Since(pod.CreationTimestamp.Time) < 10*time.Second {
		return 0, false // it will be in the cache soon
	}
	k.mu.Lock()
	k.revisionOf[pod.UID] = revision
	k.mu.Unlock()
	return revision, true
}

// revision numbers the template that a Pod was made from; 0 if nothing does.
func (k *kubelet) revision(pod *core.Pod) (int, bool) {
	owner := meta.GetControllerOf(pod)
	if owner == nil {
		return 0, true
	}
	switch owner.Kind {
	case "StatefulSet", "DaemonSet":
		name := pod.Labels[apps.ControllerRevisionHashLabelKey]
		if owner.Kind == "DaemonSet" { // its label holds the hash only
			name = owner.Name + "-" + name
		}
		r, err := k.revisions.ControllerRevisions(pod.Namespace).Get(name)
		if err != nil {
			return 0, false
		}
		return k.numbers.of(r.UID)
	case "ReplicaSet":
		r, err := k.sets.ReplicaSets(pod.Namespace).Get(owner.Name)
		if err != nil {
			return 0, false
		}
		if meta.GetControllerOf(r) == nil {
			return 0, true
		}
		return k.numbers.of(r.UID)
	}
	return 0, true
}

// ordinal is the number of a Pod within its StatefulSet or indexed Job, or -1.
func ordinal(pod *core.Pod) int {
	text := pod.Labels[apps.PodIndexLabel]
	if text == "" {
		text = pod.Annotations[batch.JobCompletionIndexAnnotation]
	}
	if owner := meta.GetControllerOf(pod); text == "" && owner != nil && owner.Kind == "StatefulSet" {
		text = pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return -1
}
