package role

import (
	"strconv"

	"windlass.dev/testbed/internal/bed"
)

func schedulerArgs(d bed.Dir, s *bed.State) []string {
	return []string{
		"--config=" + d.Config("scheduler.yaml"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(s.Ports["scheduler"]),
	}
}
