package supervisor

import (
	"fmt"
	"strings"

	"windlass.dev/testbed/internal/bed"
	"windlass.dev/testbed/internal/pki"
)

// clients are the users that log in by certificate. All are masters: the
// names make the audit log readable, the permissions are not what is tested.
var clients = map[string]string{
	"admin":          "testbed-admin",
	"kcm":            "system:kube-controller-manager",
	"scheduler":      "system:kube-scheduler",
	"node":           "system:testbed-node",
	"kubelet-client": "kube-apiserver-kubelet-client",
}

// writeFiles writes everything that the roles read.
func writeFiles(d bed.Dir, s *bed.State) error {
	requests := map[string]pki.Request{
		"apiserver": {CommonName: "kube-apiserver", Hosts: []string{
			"127.0.0.1", "localhost", bed.KubernetesIP(s.Slot),
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}},
		"node":         {CommonName: "testbed-node", Hosts: []string{"127.0.0.1", "localhost"}},
		"front-proxy":  {CommonName: "front-proxy-client"},
		"node-kubecfg": {CommonName: clients["node"], Organization: []string{"system:masters"}},
	}
	for name, user := range clients {
		if name != "node" {
			requests[name] = pki.Request{CommonName: user, Organization: []string{"system:masters"}}
		}
	}
	ca, err := pki.Ensure(d.Path("pki"), requests)
	if err != nil {
		return err
	}
	for path, pair := range map[string]string{
		d.Kubeconfig():                   "admin",
		d.Config("kcm.kubeconfig"):       "kcm",
		d.Config("scheduler.kubeconfig"): "scheduler",
		d.Config("node.kubeconfig"):      "node-kubecfg",
	} {
		p, err := pki.Load(d.Path("pki"), pair)
		if err != nil {
			return err
		}
		if err := bed.WriteKubeconfig(path, s.Server, ca.PEM, bed.User{Pair: p}); err != nil {
			return err
		}
	}
	if err := d.WriteIdentities(s.Server, ca.PEM); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"audit.yaml":     auditPolicy(s.AuditLevel),
		"scheduler.yaml": schedulerConfig(d),
	} {
		if err := bed.WriteFile(d.Config(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var auditLevels = []string{"None", "Metadata", "Request", "RequestResponse"}

func checkAuditLevel(level string) error {
	for _, l := range auditLevels {
		if l == level {
			return nil
		}
	}
	return fmt.Errorf("unknown audit level %q: use one of %s", level, strings.Join(auditLevels, ", "))
}

func auditPolicy(level string) string {
	return `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: ` + level + "\n"
}

func schedulerConfig(d bed.Dir) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %q
  qps: 500
  burst: 1000
leaderElection:
  leaderElect: false
`, d.Config("scheduler.kubeconfig"))
}
