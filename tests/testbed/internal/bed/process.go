package bed

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Process names a running process for good: a number alone may be given to
// somebody else after its end, number and start time together are not.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// FindProcess looks up a live process.
func FindProcess(pid int) (Process, error) {
	start, state, err := procStat(pid)
	if err != nil || state == "Z" || state == "X" {
		return Process{}, fmt.Errorf("no process %d runs", pid)
	}
	return Process{PID: pid, Start: start}, nil
}

// Alive tells whether the very process still runs. A zombie does not.
func (p Process) Alive() bool {
	if p.PID <= 0 {
		return false
	}
	start, state, err := procStat(p.PID)
	return err == nil && start == p.Start && state != "Z" && state != "X"
}

// Signal sends a signal to the process group that the role leads, so that
// nothing that a role started is left over.
func (p Process) Signal(sig syscall.Signal) error {
	if !p.Alive() {
		return nil
	}
	err := syscall.Kill(-p.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		err = syscall.Kill(p.PID, sig)
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// procStat reads start time and state from /proc/PID/stat. The name in the
// second field may hold blanks and brackets, hence the search from the right.
func procStat(pid int) (start uint64, state string, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", err
	}
	text := string(data)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 20 {
		return 0, "", fmt.Errorf("/proc/%d/stat: too few fields", pid)
	}
	start, err = strconv.ParseUint(f[19], 10, 64)
	return start, f[0], err
}

// FindRoles finds the role processes of this folder by their command line,
// for the case that the state file does not name them.
func (d Dir) FindRoles() map[string]Process {
	found := map[string]Process{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue
		}
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if len(args) != 4 || args[1] != "role" || args[3] != string(d) || !IsRole(args[2]) {
			continue
		}
		if p, err := FindProcess(pid); err == nil {
			found[args[2]] = p
		}
	}
	return found
}
