package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"windlass.dev/testbed/internal/bed"
)

// Down stops every role of a testbed. It is no error if none runs.
func Down(d bed.Dir, out io.Writer) error {
	if _, err := os.Stat(string(d)); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(out, "%s does not exist: nothing to stop.\n", d)
		return nil
	}
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := d.Load()
	if err != nil {
		// A broken state file must not keep the processes alive.
		fmt.Fprintf(out, "%v: looking for the processes by name.\n", err)
	}
	n := len(running(d, s))
	if err := stopAll(d, s); err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintf(out, "No testbed runs in %s.\n", d)
	} else {
		fmt.Fprintf(out, "Stopped %d processes; the data stays in %s.\n", n, d)
	}
	return nil
}

// stopAll stops etcd last, for the others write to it until their end.
func stopAll(d bed.Dir, s *bed.State) error {
	live := running(d, s)
	var etcd, rest []bed.Process
	for role, p := range live {
		if role == "etcd" {
			etcd = append(etcd, p)
		} else {
			rest = append(rest, p)
		}
	}
	err := errors.Join(terminate(rest, 4*time.Second), terminate(etcd, 4*time.Second))
	if err == nil && s != nil {
		s.Processes = map[string]bed.Process{}
		err = d.Save(s)
	}
	return err
}
