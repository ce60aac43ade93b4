package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// hostPath tidies up behind the in-tree host-path provisioner. It makes an
// empty folder for each volume at a path outside of the testbed's folder that
// cannot be chosen, and nobody uses it: no container runs.
func (a *agent) hostPath(_ context.Context, _, name string) (time.Duration, error) {
	v, err := a.volumes.Get(name)
	if err != nil || v.Spec.HostPath == nil {
		return 0, err
	}
	path := filepath.Clean(v.Spec.HostPath.Path)
	if filepath.Dir(path) == "/tmp/hostpath_pv" && v.Annotations["pv.kubernetes.io/provisioned-by"] == "kubernetes.io/host-path" {
		os.Remove(path) // only ever an empty folder
	}
	return 0, nil
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
