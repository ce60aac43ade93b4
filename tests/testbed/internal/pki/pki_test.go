package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

func TestEnsureIsStable(t *testing.T) {
	dir := t.TempDir()
	reqs := map[string]Request{
		"server": {CommonName: "kube-apiserver", Hosts: []string{"127.0.0.1", "localhost"}},
		"admin":  {CommonName: "admin", Organization: []string{"system:masters"}},
	}
	ca, err := Ensure(dir, reqs)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(dir, reqs); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(filepath.Join(dir, "server.crt"))
	if string(before) != string(after) {
		t.Fatal("a second Ensure replaced server.crt")
	}

	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	for name, usage := range map[string]x509.ExtKeyUsage{"server": x509.ExtKeyUsageServerAuth, "admin": x509.ExtKeyUsageClientAuth} {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		opts := x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{usage}}
		if name == "server" {
			opts.DNSName = "127.0.0.1"
		}
		if _, err := pair.Leaf.Verify(opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIssuePutsGroupsIntoOrganization(t *testing.T) {
	ca, _, err := NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ca.Issue(Request{CommonName: "jane", Organization: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got := pair.Leaf.Subject; got.CommonName != "jane" || len(got.Organization) != 2 {
		t.Fatalf("subject is %v", got)
	}
}
