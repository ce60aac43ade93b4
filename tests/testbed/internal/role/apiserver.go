package role

import (
	"strconv"

	"github.com/spf13/cobra"
	apiapp "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"windlass.dev/testbed/internal/bed"
)

func newAPIServer(d bed.Dir, s *bed.State) *cobra.Command {
	installResolver(d, s)
	return apiapp.NewAPIServerCommand()
}

func apiserverArgs(d bed.Dir, s *bed.State) []string {
	return []string{
		"--etcd-servers=http://" + local(s.Ports["etcd"]),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(s.Ports["apiserver"]),
		// Without a default route the server cannot guess an address, and the
		// Endpoints of Service default/kubernetes may not be loopback.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + s.ServiceRange,
		"--cert-dir=" + d.Path("certs"),
		"--tls-cert-file=" + d.PKI("apiserver.crt"),
		"--tls-private-key-file=" + d.PKI("apiserver.key"),
		"--client-ca-file=" + d.PKI("ca.crt"),
		"--service-account-key-file=" + d.PKI("sa.pub"),
		"--service-account-signing-key-file=" + d.PKI("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--token-auth-file=" + d.TokenFile(),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--proxy-client-cert-file=" + d.PKI("front-proxy.crt"),
		"--proxy-client-key-file=" + d.PKI("front-proxy.key"),
		"--requestheader-client-ca-file=" + d.PKI("ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		// Node names are in no DNS; logs and exec must dial the address.
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + d.PKI("ca.crt"),
		"--kubelet-client-certificate=" + d.PKI("kubelet-client.crt"),
		"--kubelet-client-key=" + d.PKI("kubelet-client.key"),
		"--permit-port-sharing",
		"--max-requests-inflight=800",
		"--max-mutating-requests-inflight=400",
		"--audit-policy-file=" + d.Config("audit.yaml"),
		"--audit-log-path=" + d.AuditLog(),
		"--audit-log-maxsize=0",
	}
}
