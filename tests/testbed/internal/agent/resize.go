package agent

import (
	"context"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const resizeDelay = 200 * time.Millisecond

// resizing remembers since when a claim wants to grow.
var resizing = struct {
	sync.Mutex
	since map[types.UID]time.Time
}{since: map[types.UID]time.Time{}}

// resize plays the volume resizer: the in-tree host-path plugin cannot grow a
// volume. It looks at one claim.
func (a *agent) resize(ctx context.Context, namespace, name string) (time.Duration, error) {
	claim, err := a.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return 0, err
	}
	want, have := claim.Spec.Resources.Requests[core.ResourceStorage], claim.Status.Capacity[core.ResourceStorage]
	if claim.DeletionTimestamp != nil || claim.Status.Phase != core.ClaimBound || want.Cmp(have) <= 0 || claim.Spec.StorageClassName == nil {
		return 0, nil
	}
	class, err := a.classes.Get(*claim.Spec.StorageClassName)
	if err != nil || class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion {
		return 0, err
	}
	volume, err := a.volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return 0, err
	}
	wait, stuck := a.resizeWait(claim)
	if stuck || wait > 0 {
		if !hasClaimCondition(claim, core.PersistentVolumeClaimResizing) {
			a.events.object("external-resizer", claim, core.EventTypeNormal, "Resizing", "External resizer is resizing volume %s", volume.Name)
			next := claim.DeepCopy()
			next.Status.Conditions = append(next.Status.Conditions, core.PersistentVolumeClaimCondition{
				Type: core.PersistentVolumeClaimResizing, Status: core.ConditionTrue, LastTransitionTime: meta.Now()})
			if _, err := a.client.CoreV1().PersistentVolumeClaims(namespace).UpdateStatus(ctx, next, meta.UpdateOptions{}); err != nil {
				return 0, err
			}
		}
		return wait, nil
	}
	if size := volume.Spec.Capacity[core.ResourceStorage]; size.Cmp(want) < 0 {
		next := volume.DeepCopy()
		next.Spec.Capacity[core.ResourceStorage] = want
		if _, err := a.client.CoreV1().PersistentVolumes().Update(ctx, next, meta.UpdateOptions{}); err != nil {
			return 0, err
		}
	}
	next := claim.DeepCopy()
	next.Status.Capacity[core.ResourceStorage] = want
	next.Status.Conditions, next.Status.AllocatedResources, next.Status.AllocatedResourceStatuses = nil, nil, nil
	for _, c := range claim.Status.Conditions {
		switch c.Type {
		case core.PersistentVolumeClaimResizing, core.PersistentVolumeClaimFileSystemResizePending,
			core.PersistentVolumeClaimControllerResizeError, core.PersistentVolumeClaimNodeResizeError:
		default:
			next.Status.Conditions = append(next.Status.Conditions, c)
		}
	}
	if _, err := a.client.CoreV1().PersistentVolumeClaims(namespace).UpdateStatus(ctx, next, meta.UpdateOptions{}); err != nil {
		return 0, err
	}
	resizing.Lock()
	delete(resizing.since, claim.UID)
	resizing.Unlock()
	a.events.object("kubelet", claim, core.EventTypeNormal, "FileSystemResizeSuccessful", "MountVolume.NodeExpandVolume succeeded for volume %q", volume.Name)
	return 0, nil
}

// resizeWait tells how long this claim has still to wait.
func (a *agent) resizeWait(claim *core.PersistentVolumeClaim) (wait time.Duration, stuck bool) {
	after := resizeDelay
	if text, ok := annotation(claim.Annotations, "resize-after"); ok {
		if text == "never" {
			return 0, true
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			a.events.object("external-resizer", claim, core.EventTypeWarning, "TestbedAnnotation", "resize-after: %q is neither a duration nor never", text)
			return 0, true
		}
		after = d
	}
	resizing.Lock()
	defer resizing.Unlock()
	first, ok := resizing.since[claim.UID]
	if !ok {
		first = time.Now()
		resizing.since[claim.UID] = first
	}
	return max(0, time.Until(first.Add(after))), false
}

func hasClaimCondition(claim *core.PersistentVolumeClaim, t core.PersistentVolumeClaimConditionType) bool {
	for _, c := range claim.Status.Conditions {
		if c.Type == t {
			return true
		}
	}
	return false
}
