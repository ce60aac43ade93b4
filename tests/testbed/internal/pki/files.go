package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Ensure fills dir with the CA and the certificates named by requests (as
// NAME.crt and NAME.key) and with the service account key (sa.key, sa.pub).
// Files that exist are kept, so that a testbed can be started again.
func Ensure(dir string, requests map[string]Request) (*CA, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := LoadCA(dir)
	if errors.Is(err, fs.ErrNotExist) {
		var key []byte
		if ca, key, err = NewCA("windlass-testbed-ca"); err != nil {
			return nil, err
		}
		if err = write(dir, "ca.key", key); err == nil {
			err = write(dir, "ca.crt", ca.PEM)
		}
	}
	if err != nil {
		return nil, err
	}
	for name, r := range requests {
		if exists(dir, name+".crt") && exists(dir, name+".key") {
			continue
		}
		p, err := ca.Issue(r)
		if err != nil {
			return nil, err
		}
		if err := write(dir, name+".key", p.Key); err != nil {
			return nil, err
		}
		if err := write(dir, name+".crt", p.Cert); err != nil {
			return nil, err
		}
	}
	return ca, ensureServiceAccountKey(dir)
}

func ensureServiceAccountKey(dir string) error {
	if exists(dir, "sa.key") && exists(dir, "sa.pub") {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	// The controller manager reads this key in the SEC 1 form only.
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	pub, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := write(dir, "sa.key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})); err != nil {
		return err
	}
	return write(dir, "sa.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}))
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func write(dir, name string, data []byte) error {
	return os.WriteFile(filepath.Join(dir, name), data, 0o600)
}

// Load reads a pair that Ensure wrote.
func Load(dir, name string) (Pair, error) {
	cert, err := os.ReadFile(filepath.Join(dir, name+".crt"))
	if err != nil {
		return Pair{}, err
	}
	key, err := os.ReadFile(filepath.Join(dir, name+".key"))
	return Pair{Cert: cert, Key: key}, err
}
