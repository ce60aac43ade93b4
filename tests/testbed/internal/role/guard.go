package role

import (
	"log"
	"os"
	"syscall"
	"time"

	"windlass.dev/testbed/internal/bed"
)

// guard ends this role when nobody can want it any more: the process that the
// testbed was started for is gone, or the testbed's folder was deleted. It is
// what keeps a killed test from leaving a control plane behind for ever.
func guard(d bed.Dir, watch *bed.Process) {
	for {
		time.Sleep(500 * time.Millisecond)
		why := ""
		if _, err := os.Stat(d.StateFile()); os.IsNotExist(err) {
			why = "the state file is gone"
		} else if watch != nil && !watch.Alive() {
			why = "the watched process is gone"
		}
		if why == "" {
			continue
		}
		log.Printf("%s: stopping", why)
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(5 * time.Second)
		os.Exit(1)
	}
}
