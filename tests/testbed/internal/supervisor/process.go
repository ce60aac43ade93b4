// Package supervisor starts and stops the roles of a testbed.
package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"windlass.dev/testbed/internal/bed"
)

// child is a role that this command started.
type child struct {
	role string
	proc bed.Process
	gone chan struct{} // closed when the process has ended
}

// spawn starts a role as a session of its own, so that neither the end of this
// command nor a Ctrl-C in its terminal reaches it. The claim of the slot is
// handed down as an open file.
func spawn(d bed.Dir, role string, claim *os.File) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(d.Log(role), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(self, "role", role, string(d))
	cmd.Dir = string(d)
	cmd.Env = environment(d)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if claim != nil {
		cmd.ExtraFiles = []*os.File{claim}
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	c := &child{role: role, gone: make(chan struct{})}
	c.proc, err = bed.FindProcess(cmd.Process.Pid)
	go func() {
		cmd.Wait()
		close(c.gone)
	}()
	if err != nil {
		return nil, fmt.Errorf("%s ended at once", role)
	}
	return c, nil
}

// environment is this command's own, without what could lead a role astray:
// proxies (the API server's calls to webhooks and nodes honour them) and a
// kubeconfig of another cluster.
func environment(d bed.Dir) []string {
	drop := map[string]bool{"KUBECONFIG": true, "TMPDIR": true}
	for _, v := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		drop[v], drop[strings.ToLower(v)] = true, true
	}
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !drop[name] {
			env = append(env, kv)
		}
	}
	return append(env, "TMPDIR="+d.Path("tmp"))
}

// terminate ends processes: politely first, then for good.
func terminate(procs []bed.Process, patience time.Duration) error {
	for _, p := range procs {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
	if waitGone(procs, patience) {
		return nil
	}
	for _, p := range procs {
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return err
		}
	}
	if !waitGone(procs, 5*time.Second) {
		return fmt.Errorf("some processes did not even end by SIGKILL: %v", procs)
	}
	return nil
}

func waitGone(procs []bed.Process, patience time.Duration) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		alive := false
		for _, p := range procs {
			alive = alive || p.Alive()
		}
		if !alive || time.Now().After(deadline) {
			return !alive
		}
	}
}
