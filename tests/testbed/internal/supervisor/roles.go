package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"windlass.dev/testbed/internal/bed"
)

// Restart stops a role politely and starts it again on the same data.
func Restart(ctx context.Context, d bed.Dir, role string) error {
	return change(d, role, func(s *bed.State) error {
		if p, ok := running(d, s)[role]; ok {
			if err := terminate([]bed.Process{p}, 8*time.Second); err != nil {
				return err
			}
		}
		return startOne(ctx, d, s, role)
	})
}

// Start starts a role that was killed.
func Start(ctx context.Context, d bed.Dir, role string) error {
	return change(d, role, func(s *bed.State) error {
		if p, ok := running(d, s)[role]; ok {
			return fmt.Errorf("%s runs already (pid %d)", role, p.PID)
		}
		return startOne(ctx, d, s, role)
	})
}

// Kill ends a role as a crash would: without a chance to tidy up.
func Kill(d bed.Dir, role string) error {
	return change(d, role, func(s *bed.State) error {
		p, ok := running(d, s)[role]
		if !ok {
			return fmt.Errorf("%s does not run", role)
		}
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		if !waitGone([]bed.Process{p}, 5*time.Second) {
			return fmt.Errorf("%s (pid %d) did not end", role, p.PID)
		}
		delete(s.Processes, role)
		return d.Save(s)
	})
}

func change(d bed.Dir, role string, do func(*bed.State) error) error {
	if !bed.IsRole(role) {
		return fmt.Errorf("unknown role %q: the roles are %v", role, bed.Roles)
	}
	s, err := d.MustLoad()
	if err != nil {
		return err
	}
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	return do(s)
}

func startOne(ctx context.Context, d bed.Dir, s *bed.State, role string) error {
	// The roles that run hold the claim. If none does, it is taken anew here.
	claim, err := bed.Claim(s.Slot)
	if err != nil && !errors.Is(err, bed.ErrSlotTaken) {
		return err
	}
	if claim != nil {
		defer claim.Close()
	} else if len(running(d, s)) == 0 {
		return bed.ErrSlotTaken
	}
	c, err := spawn(d, role, claim)
	if err != nil {
		return err
	}
	s.Processes[role] = c.proc
	if err := d.Save(s); err != nil {
		return err
	}
	if err := await(ctx, c.gone, func(ctx context.Context) error { return healthy(ctx, s, role) }); err != nil {
		return failed(d, role, err)
	}
	// Without etcd the API server is of no use to the caller either.
	if role == "etcd" && s.Processes["apiserver"].Alive() {
		return await(ctx, nil, func(ctx context.Context) error { return healthy(ctx, s, "apiserver") })
	}
	return nil
}

// Status prints one line for each role; it reports whether all are healthy.
func Status(ctx context.Context, d bed.Dir, out io.Writer) (bool, error) {
	s, err := d.MustLoad()
	if err != nil {
		return false, err
	}
	live, good := running(d, s), true
	fmt.Fprintf(out, "%s  Kubernetes %s  %s\n", d, s.KubernetesVersion, s.Server)
	for _, role := range bed.Roles {
		p, ok := live[role]
		state := "stopped"
		if ok {
			state = "running"
			if err := healthy(ctx, s, role); err != nil {
				state, good = "unhealthy: "+err.Error(), false
			}
		} else {
			good = false
		}
		fmt.Fprintf(out, "  %-10s pid %-8d port %-6d %s\n", role, p.PID, s.Ports[role], state)
	}
	return good, nil
}

// Logs copies the log of a role.
func Logs(d bed.Dir, role string, out io.Writer) error {
	if !bed.IsRole(role) {
		return fmt.Errorf("unknown role %q: the roles are %v", role, bed.Roles)
	}
	f, err := os.Open(d.Log(role))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}
