package bed

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"windlass.dev/testbed/internal/pki"
)

// User is how a kubeconfig logs in: by certificate or by token.
type User struct {
	Pair  pki.Pair
	Token string
}

// WriteKubeconfig writes one kubeconfig, its only context named ContextName.
func WriteKubeconfig(path, server string, ca []byte, u User) error {
	c := api.NewConfig()
	c.Clusters[ContextName] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos[ContextName] = &api.AuthInfo{ClientCertificateData: u.Pair.Cert, ClientKeyData: u.Pair.Key, Token: u.Token}
	c.Contexts[ContextName] = &api.Context{Cluster: ContextName, AuthInfo: ContextName}
	c.CurrentContext = ContextName
	data, err := clientcmd.Write(*c)
	if err != nil {
		return err
	}
	return WriteFile(path, data, 0o600)
}
