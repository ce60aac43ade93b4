package bed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Roles lists the processes of a testbed in the order in which they start.
var Roles = []string{"etcd", "apiserver", "kcm", "scheduler", "node"}

// State is what state.json holds.
type State struct {
	KubernetesVersion string             `json:"kubernetesVersion"`
	CreatedAt         time.Time          `json:"createdAt"`
	Server            string             `json:"server"`
	Kubeconfig        string             `json:"kubeconfig"`
	Slot              int                `json:"slot"`
	ServiceRange      string             `json:"serviceRange"`
	LoadBalancerRange string             `json:"loadBalancerRange"`
	Ports             map[string]int     `json:"ports"`
	Nodes             int                `json:"nodes"`
	AuditLevel        string             `json:"auditLevel"`
	Forwards          []string           `json:"forwards,omitempty"`
	Watch             *Process           `json:"watch,omitempty"`
	Processes         map[string]Process `json:"processes"`
}

// IsRole tells whether name is one of Roles.
func IsRole(name string) bool {
	for _, r := range Roles {
		if r == name {
			return true
		}
	}
	return false
}

// Load reads the state file. Without one it returns nil and no error.
func (d Dir) Load() (*State, error) {
	data, err := os.ReadFile(d.StateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &State{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", d.StateFile(), err)
	}
	if s.Processes == nil {
		s.Processes = map[string]Process{}
	}
	return s, nil
}

// MustLoad is Load for commands that need an existing testbed.
func (d Dir) MustLoad() (*State, error) {
	s, err := d.Load()
	if err == nil && s == nil {
		err = fmt.Errorf("%s holds no testbed: run `testbed up %s` first", d, d)
	}
	return s, err
}

// Save writes the state file in one step, for others read it at any time.
func (d Dir) Save(s *State) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(d.StateFile(), append(data, '\n'), 0o600)
}

// WriteFile replaces a file so that a reader sees the old or the new text.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	tmp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(tmp, data, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Lock keeps two commands from changing one testbed at the same time. The
// returned function releases it; the end of the process does so as well.
func (d Dir) Lock() (func(), error) {
	f, err := os.OpenFile(d.Path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another testbed command works on %s right now: wait for it and try again", d)
	}
	return func() { f.Close() }, nil
}
