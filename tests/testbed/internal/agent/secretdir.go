package agent

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"windlass.dev/testbed/internal/bed"
)

// secretDirs writes Secrets into folders, as a Secret volume does, for the
// operators and webhooks that run as local processes.
type secretDirs struct{ *agent }

func newSecretDirs(a *agent) *secretDirs { return &secretDirs{a} }

// run notices changes of the file; changes of Secrets come through the queue.
func (s *secretDirs) run(ctx context.Context) {
	var last []byte
	for {
		data, err := os.ReadFile(s.dir.SecretDirs())
		if err == nil && !bytes.Equal(data, last) {
			last = data
			for _, l := range configLines(data) {
				if key, _, ok := strings.Cut(l, "="); ok {
					ns, name, _ := strings.Cut(key, "/")
					s.queue.Add(item{"secret", ns, name})
				} else {
					log.Printf("%s: %q does not look like NS/NAME=FOLDER", s.dir.SecretDirs(), l)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// sync writes one Secret to every folder that wants it.
func (s *secretDirs) sync(_ context.Context, namespace, name string) (time.Duration, error) {
	secret, err := s.secrets.Secrets(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, dir := range s.folders(namespace, name) {
		if err := writeFolder(dir, secret.Data); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// folders come from the file and from the annotations of Pods.
func (s *secretDirs) folders(namespace, name string) []string {
	found := map[string]bool{}
	if data, err := os.ReadFile(s.dir.SecretDirs()); err == nil {
		for _, l := range configLines(data) {
			if key, dir, ok := strings.Cut(l, "="); ok && strings.TrimSpace(key) == namespace+"/"+name {
				found[s.absolute(strings.TrimSpace(dir))] = true
			}
		}
	}
	pods, _ := s.pods.Pods(namespace).List(labels.Everything())
	for _, p := range pods {
		for _, v := range podSecretDirs(p) {
			if v.secret == name {
				found[s.absolute(v.dir)] = true
			}
		}
	}
	var out []string
	for dir := range found {
		out = append(out, dir)
	}
	return sorted(out)
}

// absolute lets relative folders begin in the testbed's own.
func (s *secretDirs) absolute(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return s.dir.Path("volumes", dir)
}

type secretDir struct{ secret, dir string }

// podSecretDirs reads annotation secret-dir: "FOLDER" gives every Secret volume
// a folder of its name in there, "VOLUME=FOLDER,..." names them one by one.
func podSecretDirs(p *core.Pod) []secretDir {
	text, ok := annotation(p.Annotations, "secret-dir")
	if !ok {
		return nil
	}
	named := map[string]string{}
	root := ""
	for part := range strings.SplitSeq(text, ",") {
		if volume, dir, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			named[volume] = dir
		} else {
			root = volume
		}
	}
	var out []secretDir
	for _, v := range p.Spec.Volumes {
		if v.Secret == nil {
			continue
		}
		if dir, ok := named[v.Name]; ok {
			out = append(out, secretDir{v.Secret.SecretName, dir})
		} else if root != "" {
			out = append(out, secretDir{v.Secret.SecretName, filepath.Join(root, v.Name)})
		}
	}
	return out
}

// writeFolder makes the files of a folder match. Each appears in one step, for
// the readers watch them.
func writeFolder(dir string, data map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := data[e.Name()]; !ok && e.Type().IsRegular() && !strings.HasSuffix(e.Name(), ".tmp") {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	for name, value := range data {
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, value) {
			continue
		}
		if err := bed.WriteFile(path, value, 0o600); err != nil {
			return err
		}
	}
	return nil
}
