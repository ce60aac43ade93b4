package agent

import (
	"fmt"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// MountProblem looks for Secrets and ConfigMaps of volumes that do not exist.
func (k *kubelet) MountProblem(pod *core.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if err := k.volumeProblem(pod.Namespace, &v); err != "" {
			return fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", v.Name, err)
		}
	}
	return ""
}

func (k *kubelet) volumeProblem(ns string, v *core.Volume) string {
	switch {
	case v.Secret != nil:
		return k.secretProblem(ns, v.Secret.SecretName, v.Secret.Optional, v.Secret.Items)
	case v.ConfigMap != nil:
		return k.mapProblem(ns, v.ConfigMap.Name, v.ConfigMap.Optional, v.ConfigMap.Items)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			problem := ""
			if s.Secret != nil {
				problem = k.secretProblem(ns, s.Secret.Name, s.Secret.Optional, s.Secret.Items)
			} else if s.ConfigMap != nil {
				problem = k.mapProblem(ns, s.ConfigMap.Name, s.ConfigMap.Optional, s.ConfigMap.Items)
			}
			if problem != "" {
				return problem
			}
		}
	}
	return ""
}

func (k *kubelet) secretProblem(ns, name string, optional *bool, items []core.KeyToPath) string {
	if optional != nil && *optional {
		return ""
	}
	s, err := k.secrets.Secrets(ns).Get(name)
	if err != nil {
		return notFound("secret", name, err)
	}
	for _, i := range items {
		if _, ok := s.Data[i.Key]; !ok {
			return "references non-existent secret key: " + i.Key
		}
	}
	return ""
}

func (k *kubelet) mapProblem(ns, name string, optional *bool, items []core.KeyToPath) string {
	if optional != nil && *optional {
		return ""
	}
	m, err := k.maps.ConfigMaps(ns).Get(name)
	if err != nil {
		return notFound("configmap", name, err)
	}
	for _, i := range items {
		_, text := m.Data[i.Key]
		_, binary := m.BinaryData[i.Key]
		if !text && !binary {
			return "configmap references non-existent config key: " + i.Key
		}
	}
	return ""
}

// EnvProblem looks for what the environment of a container refers to.
func (k *kubelet) EnvProblem(pod *core.Pod, c *core.Container) string {
	for _, from := range c.EnvFrom {
		problem := ""
		if r := from.ConfigMapRef; r != nil {
			problem = k.mapProblem(pod.Namespace, r.Name, r.Optional, nil)
		} else if r := from.SecretRef; r != nil {
			problem = k.secretProblem(pod.Namespace, r.Name, r.Optional, nil)
		}
		if problem != "" {
			return problem
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if problem := k.keyProblem(pod.Namespace, e.ValueFrom); problem != "" {
			return problem
		}
	}
	return ""
}

func (k *kubelet) keyProblem(ns string, v *core.EnvVarSource) string {
	if r := v.ConfigMapKeyRef; r != nil && (r.Optional == nil || !*r.Optional) {
		m, err := k.maps.ConfigMaps(ns).Get(r.Name)
		if err != nil {
			return notFound("configmap", r.Name, err)
		}
		if _, ok := m.Data[r.Key]; !ok {
			return fmt.Sprintf("couldn't find key %s in ConfigMap %s/%s", r.Key, ns, r.Name)
		}
	}
	if r := v.SecretKeyRef; r != nil && (r.Optional == nil || !*r.Optional) {
		s, err := k.secrets.Secrets(ns).Get(r.Name)
		if err != nil {
			return notFound("secret", r.Name, err)
		}
		if _, ok := s.Data[r.Key]; !ok {
			return fmt.Sprintf("couldn't find key %s in Secret %s/%s", r.Key, ns, r.Name)
		}
	}
	return ""
}

// notFound words a failed look-up as the API server would: the cache words it
// a little differently.
func notFound(kind, name string, err error) string {
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("%s %q not found", kind, name)
	}
	return err.Error()
}
