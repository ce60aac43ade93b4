// Package bed describes the folder of one testbed: where its files are, what
// its state file says, and which ports and address ranges it owns.
package bed

import (
	"fmt"
	"os"
	"path/filepath"
)

// KubernetesVersion is the version that every role answers with.
const KubernetesVersion = "v1.36.3"

// ContextName names the cluster, the context and the user of the kubeconfigs.
const ContextName = "testbed"

// Dir is the absolute path of a testbed's folder.
type Dir string

// Open turns a path into a Dir. The folder need not exist.
func Open(path string) (Dir, error) {
	if path == "" {
		return "", fmt.Errorf("the testbed folder is missing")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	// A resolved path makes two spellings of one folder the same testbed.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return Dir(abs), nil
}

// Path joins names to the folder.
func (d Dir) Path(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// StateFile, Kubeconfig and the rest are the files that others may rely on.
func (d Dir) StateFile() string      { return d.Path("state.json") }
func (d Dir) Kubeconfig() string     { return d.Path("kubeconfig") }
func (d Dir) AuditLog() string       { return d.Path("audit.log") }
func (d Dir) Forwards() string       { return d.Path("forwards.txt") }
func (d Dir) SecretDirs() string     { return d.Path("secret-dirs.txt") }
func (d Dir) PKI(name string) string { return d.Path("pki", name) }
func (d Dir) Log(role string) string { return d.Path("logs", role+".log") }
func (d Dir) Config(n string) string { return d.Path("config", n) }

// Make creates the folders of a testbed.
func (d Dir) Make() error {
	for _, sub := range []string{"", "pki", "logs", "config", "identities", "tmp", "agent", "etcd", "flex", "certs"} {
		if err := os.MkdirAll(d.Path(sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}
