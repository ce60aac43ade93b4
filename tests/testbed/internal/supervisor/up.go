package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"

	"windlass.dev/testbed/internal/bed"
)

// Options are the flags of `testbed up`. A zero value keeps what the state
// file of an earlier run says.
type Options struct {
	Nodes      int
	AuditLevel string
	Forwards   []string
	WatchPID   int
	Timeout    time.Duration
}

// Up starts a testbed in d and returns when it is usable. If that fails, all
// that it started is stopped again.
func Up(ctx context.Context, d bed.Dir, o Options, out io.Writer) error {
	began := time.Now()
	if err := d.Make(); err != nil {
		return err
	}
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, claim, err := plan(d, o)
	if err != nil {
		return err
	}
	defer claim.Close()
	if err := writeFiles(d, s); err != nil {
		return err
	}
	if err := d.Save(s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := startAll(ctx, d, s, claim); err != nil {
		stopAll(d, s)
		return err
	}
	fmt.Fprintf(out, `Kubernetes %s is up in %.1f s: %d nodes, services in %s, load balancers in %s.
  export KUBECONFIG=%s
  kubectl get nodes
  testbed down %s
`, bed.KubernetesVersion, time.Since(began).Seconds(), s.Nodes, s.ServiceRange, s.LoadBalancerRange, d.Kubeconfig(), d)
	return nil
}

// plan decides on slot, ports and settings, and claims the slot.
func plan(d bed.Dir, o Options) (*bed.State, *os.File, error) {
	s, err := d.Load()
	if err != nil {
		return nil, nil, err
	}
	if live := running(d, s); len(live) > 0 {
		return nil, nil, fmt.Errorf("a testbed runs in %s already (%s): stop it with `testbed down %s` first",
			d, strings.Join(names(live), ", "), d)
	}
	var claim *os.File
	if s == nil {
		s = &bed.State{KubernetesVersion: bed.KubernetesVersion, CreatedAt: time.Now().UTC(), Nodes: 3, AuditLevel: "Metadata", Kubeconfig: d.Kubeconfig()}
		if s.Slot, claim, err = bed.ClaimFree(d); err != nil {
			return nil, nil, err
		}
		s.ServiceRange, s.LoadBalancerRange = bed.ServiceRange(s.Slot), bed.LoadBalancerRange(s.Slot)
		if s.Ports, err = bed.PickPorts(s.Slot); err != nil {
			claim.Close()
			return nil, nil, err
		}
		s.Server = fmt.Sprintf("https://127.0.0.1:%d", s.Ports["apiserver"])
	} else if claim, err = reclaim(d, s); err != nil {
		return nil, nil, err
	}
	if o.Nodes > 0 {
		s.Nodes = o.Nodes
	}
	if o.AuditLevel != "" {
		s.AuditLevel = o.AuditLevel
	}
	if o.Forwards != nil {
		s.Forwards = o.Forwards
	}
	s.Watch, s.Processes = nil, map[string]bed.Process{}
	err = checkAuditLevel(s.AuditLevel)
	if err == nil && o.WatchPID > 0 {
		var p bed.Process
		if p, err = bed.FindProcess(o.WatchPID); err == nil {
			s.Watch = &p
		}
	}
	if err != nil {
		claim.Close()
		return nil, nil, err
	}
	return s, claim, nil
}

// reclaim takes slot and ports of an earlier run: the addresses of Services
// and the kubeconfigs in the hands of others depend on them.
func reclaim(d bed.Dir, s *bed.State) (*os.File, error) {
	claim, err := bed.Claim(s.Slot)
	if errors.Is(err, bed.ErrSlotTaken) {
		return nil, fmt.Errorf("%w: the data in %s needs %s: stop the other testbed, or start a fresh one in another folder", err, d, s.ServiceRange)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range bed.PortNames {
		if err := bed.CheckPort(s.Ports[name]); err != nil {
			claim.Close()
			return nil, fmt.Errorf("port %d of the earlier run is in use (%w): free it, or start a fresh testbed in another folder", s.Ports[name], err)
		}
	}
	return claim, nil
}

func startAll(ctx context.Context, d bed.Dir, s *bed.State, claim *os.File) error {
	children := map[string]*child{}
	start := func(role string) error {
		c, err := spawn(d, role, claim)
		if err != nil {
			return err
		}
		children[role] = c
		s.Processes[role] = c.proc
		return d.Save(s)
	}
	wait := func(role string) error {
		err := await(ctx, children[role].gone, func(ctx context.Context) error { return healthy(ctx, s, role) })
		if err != nil {
			return failed(d, role, err)
		}
		return nil
	}
	// The API server retries etcd by itself, but starts faster with etcd there;
	// the other three end when there is no API server.
	for _, group := range [][]string{{"etcd"}, {"apiserver"}, {"kcm", "scheduler", "node"}} {
		for _, role := range group {
			if err := start(role); err != nil {
				return err
			}
		}
		for _, role := range group {
			if err := wait(role); err != nil {
				return err
			}
		}
	}
	if err := await(ctx, nil, usable(d, s)); err != nil {
		return failed(d, "node", err)
	}
	for _, role := range bed.Roles {
		if !s.Processes[role].Alive() {
			return failed(d, role, errEnded)
		}
	}
	return nil
}

// failed adds the end of a role's log to an error: what went wrong is there.
func failed(d bed.Dir, role string, err error) error {
	return fmt.Errorf("%s did not become ready: %w\n--- last lines of %s\n%s", role, err, d.Log(role), tail(d.Log(role), 25))
}

func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n")
}

// running finds the live roles of a testbed, by its state and by their
// command lines.
func running(d bed.Dir, s *bed.State) map[string]bed.Process {
	live := d.FindRoles()
	if s != nil {
		for role, p := range s.Processes {
			if p.Alive() {
				live[role] = p
			}
		}
	}
	return live
}

func names(m map[string]bed.Process) []string {
	var out []string
	for name, p := range m {
		out = append(out, fmt.Sprintf("%s pid %d", name, p.PID))
	}
	sort.Strings(out)
	return out
}
