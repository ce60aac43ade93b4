package role

import (
	"log"
	"os"
	"strconv"

	"windlass.dev/testbed/internal/bed"
)

// hostPathRoot is where the in-tree host-path provisioner makes its folders;
// the path is a constant of the stock code.
const hostPathRoot = "/tmp/hostpath_pv"

func kcmArgs(d bed.Dir, s *bed.State) []string {
	return []string{
		"--kubeconfig=" + d.Config("kcm.kubeconfig"),
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(s.Ports["kcm"]),
		"--use-service-account-credentials=false",
		"--service-account-private-key-file=" + d.PKI("sa.key"),
		"--root-ca-file=" + d.PKI("ca.crt"),
		"--cluster-signing-cert-file=" + d.PKI("ca.crt"),
		"--cluster-signing-key-file=" + d.PKI("ca.key"),
		// Without a metrics server that controller only writes errors.
		"--controllers=*,-horizontal-pod-autoscaler-controller",
		"--enable-hostpath-provisioner=true",
		"--flex-volume-plugin-dir=" + d.Path("flex"),
		// A busy machine must not make Nodes look dead.
		"--node-monitor-grace-period=10m",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

// prepareHostPaths makes the common root of host-path volumes usable for
// every user of the machine: the provisioner would create it for its own only.
func prepareHostPaths() {
	if err := os.MkdirAll(hostPathRoot, 0o700); err != nil {
		log.Printf("host-path volumes will not work: %v", err)
		return
	}
	if err := os.Chmod(hostPathRoot, 0o777|os.ModeSticky); err != nil {
		if f, err := os.CreateTemp(hostPathRoot, "probe"); err != nil {
			log.Printf("host-path volumes will not work: %v: delete %s as its owner", err, hostPathRoot)
		} else {
			f.Close()
			os.Remove(f.Name())
		}
	}
}
