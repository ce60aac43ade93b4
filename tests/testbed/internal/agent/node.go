package agent

import (
	"context"
	"fmt"
	"log"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windlass.dev/testbed/internal/bed"
	"windlass.dev/testbed/internal/podsim"
)

const (
	leaseEvery  = 10 * time.Second
	statusEvery = 5 * time.Minute // what the kubelet does when nothing changes
)

// nodeName names the i-th node, from 1 on.
func nodeName(i int) string { return fmt.Sprintf("testbed-node-%d", i) }

func (a *agent) ownsNode(name string) bool {
	for i := range a.state.Nodes {
		if nodeName(i+1) == name {
			return true
		}
	}
	return false
}

// runNodes keeps Nodes and leases alive.
func (a *agent) runNodes(ctx context.Context) {
	written := make([]time.Time, a.state.Nodes+1)
	for {
		wait := leaseEvery
		for i := 1; i <= a.state.Nodes; i++ {
			if err := a.beat(ctx, i, &written[i]); err != nil && ctx.Err() == nil {
				log.Printf("node %s: %v", nodeName(i), err)
				wait = 500 * time.Millisecond
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (a *agent) beat(ctx context.Context, i int, written *time.Time) error {
	nodes := a.client.CoreV1().Nodes()
	n, err := nodes.Get(ctx, nodeName(i), meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		*written = time.Time{}
		n, err = nodes.Create(ctx, &core.Node{ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: nodeLabels(i)}}, meta.CreateOptions{})
	}
	if err != nil {
		return err
	}
	if time.Since(*written) >= statusEvery {
		a.fillNodeStatus(n)
		if n, err = nodes.UpdateStatus(ctx, n, meta.UpdateOptions{}); err != nil {
			return err
		}
		*written = time.Now()
	}
	return a.lease(ctx, n)
}

func nodeLabels(i int) map[string]string {
	return map[string]string{
		core.LabelHostname:               nodeName(i),
		core.LabelOSStable:               "linux",
		core.LabelArchStable:             "amd64",
		core.LabelInstanceTypeStable:     "testbed.large",
		core.LabelTopologyRegion:         "testbed",
		core.LabelTopologyZone:           fmt.Sprintf("testbed-%d", i),
		"agentpool":                      "data",
		"kubernetes.azure.com/agentpool": "data",
	}
}

func (a *agent) fillNodeStatus(n *core.Node) {
	now := meta.Now()
	set := func(t core.NodeConditionType, s core.ConditionStatus, reason, message string) core.NodeCondition {
		c := core.NodeCondition{Type: t, Status: s, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now}
		for _, old := range n.Status.Conditions {
			if old.Type == t && old.Status == s {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		return c
	}
	st := &n.Status
	st.Conditions = []core.NodeCondition{
		set(core.NodeNetworkUnavailable, core.ConditionFalse, "RouteCreated", "the testbed has no network"),
		set(core.NodeMemoryPressure, core.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		set(core.NodeDiskPressure, core.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		set(core.NodePIDPressure, core.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		set(core.NodeReady, core.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
	st.Capacity = core.ResourceList{
		core.ResourceCPU:              resource.MustParse("64"),
		core.ResourceMemory:           resource.MustParse("256Gi"),
		core.ResourcePods:             resource.MustParse("500"),
		core.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	st.Allocatable = st.Capacity.DeepCopy()
	st.Addresses = []core.NodeAddress{
		{Type: core.NodeInternalIP, Address: podsim.NodeIP},
		{Type: core.NodeHostName, Address: n.Name},
	}
	st.DaemonEndpoints.KubeletEndpoint.Port = int32(a.state.Ports["node"])
	st.NodeInfo = core.NodeSystemInfo{
		MachineID: n.Name, SystemUUID: n.Name, BootID: n.Name,
		KernelVersion: "0.0.0-testbed", OSImage: "Windlass testbed", OperatingSystem: "linux", Architecture: "amd64",
		ContainerRuntimeVersion: "containerd://0.0.0-testbed", KubeletVersion: bed.KubernetesVersion,
	}
}

func (a *agent) lease(ctx context.Context, n *core.Node) error {
	leases := a.client.CoordinationV1().Leases(core.NamespaceNodeLease)
	now := meta.NowMicro()
	l, err := leases.Get(ctx, n.Name, meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		l = &coordination.Lease{
			ObjectMeta: meta.ObjectMeta{Name: n.Name, OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}}},
			Spec:       coordination.LeaseSpec{HolderIdentity: &n.Name, LeaseDurationSeconds: new(int32(40)), RenewTime: &now},
		}
		_, err = leases.Create(ctx, l, meta.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	l.Spec.RenewTime = &now
	_, err = leases.Update(ctx, l, meta.UpdateOptions{})
	return err
}
