package bed

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

func TestProcessIsToldFromASuccessor(t *testing.T) {
	me, err := FindProcess(os.Getpid())
	if err != nil || !me.Alive() {
		t.Fatalf("%v %v", me, err)
	}
	if (Process{PID: me.PID, Start: me.Start + 1}).Alive() {
		t.Error("a process with another start time counts as the same")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child, err := FindProcess(cmd.Process.Pid)
	if err != nil || !child.Alive() {
		t.Fatal("a running child is not alive")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if child.Alive() {
		t.Error("a dead child is alive")
	}
}

func TestSlotsExcludeEachOther(t *testing.T) {
	d, _ := Open(t.TempDir())
	slot, claim, err := ClaimFree(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(slot); !errors.Is(err, ErrSlotTaken) {
		t.Errorf("the slot could be claimed twice: %v", err)
	}
	other, second, err := ClaimFree(d)
	if err != nil || other == slot {
		t.Fatalf("slot %d after %d: %v", other, slot, err)
	}
	second.Close()
	claim.Close()
	again, err := Claim(slot)
	if err != nil {
		t.Fatalf("a slot given back is still taken: %v", err)
	}
	again.Close()
	ports, err := PickPorts(slot)
	if err != nil || len(ports) != len(PortNames) {
		t.Errorf("ports %v: %v", ports, err)
	}
}

func TestStateRoundTrip(t *testing.T) {
	d, _ := Open(t.TempDir())
	if s, err := d.Load(); s != nil || err != nil {
		t.Fatalf("an empty folder has state %v, %v", s, err)
	}
	if _, err := d.MustLoad(); err == nil {
		t.Error("an empty folder passes for a testbed")
	}
	in := &State{Slot: 3, Nodes: 2, Processes: map[string]Process{"etcd": {PID: 1, Start: 2}}}
	if err := d.Save(in); err != nil {
		t.Fatal(err)
	}
	out, err := d.MustLoad()
	if err != nil || out.Slot != 3 || out.Processes["etcd"] != in.Processes["etcd"] {
		t.Errorf("%+v %v", out, err)
	}
}

func TestLockIsExclusive(t *testing.T) {
	d, _ := Open(t.TempDir())
	unlock, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(); err == nil {
		t.Error("locked twice")
	}
	unlock()
	if unlock, err = d.Lock(); err != nil {
		t.Error(err)
	} else {
		unlock()
	}
}

func TestAddressRanges(t *testing.T) {
	if ServiceRange(31) != "127.127.0.0/16" || LoadBalancerRange(31) != "127.95.0.0/16" || KubernetesIP(0) != "127.96.0.1" {
		t.Error("ranges are not where the README says")
	}
	if LoadBalancerIP(0, 0) != "127.64.1.1" || LoadBalancerIP(0, LoadBalancerIPs-1) != "127.64.254.254" {
		t.Error(LoadBalancerIP(0, 0), LoadBalancerIP(0, LoadBalancerIPs-1))
	}
}
