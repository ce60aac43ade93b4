package bed

import (
	"crypto/rand"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"windlass.dev/testbed/internal/pki"
)

// TestIdentities are the users of the token file, with their groups.
var TestIdentities = []struct {
	Name   string
	Groups []string
}{
	{"windlass-run", []string{"windlass:run"}},
	{"windlass-plan", []string{"windlass:plan"}},
	{"windlass-drift", []string{"windlass:drift"}},
	{"viewer", []string{"windlass:viewers"}},
	{"nobody", nil},
}

var identityName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._@-]*[A-Za-z0-9])?$`)

// TokenFile is the file that the API server reads its token users from.
func (d Dir) TokenFile() string { return d.Path("config", "tokens.csv") }

// IdentityFile is the kubeconfig of an identity.
func (d Dir) IdentityFile(name string) string { return d.Path("identities", name+".kubeconfig") }

// WriteIdentities writes the token file, once, and the kubeconfigs of its users.
func (d Dir) WriteIdentities(server string, ca []byte) error {
	tokens, err := d.readTokens()
	if err != nil {
		return err
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	for _, id := range TestIdentities {
		if tokens[id.Name] == "" {
			raw := make([]byte, 16)
			if _, err := rand.Read(raw); err != nil {
				return err
			}
			tokens[id.Name] = hex.EncodeToString(raw)
		}
		row := []string{tokens[id.Name], id.Name, "uid-" + id.Name}
		if len(id.Groups) > 0 {
			row = append(row, strings.Join(id.Groups, ","))
		}
		if err := w.Write(row); err != nil {
			return err
		}
		if err := WriteKubeconfig(d.IdentityFile(id.Name), server, ca, User{Token: tokens[id.Name]}); err != nil {
			return err
		}
	}
	w.Flush()
	return WriteFile(d.TokenFile(), []byte(out.String()), 0o600)
}

func (d Dir) readTokens() (map[string]string, error) {
	tokens := map[string]string{}
	f, err := os.Open(d.TokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		return tokens, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.TokenFile(), err)
	}
	for _, row := range rows {
		if len(row) >= 2 {
			tokens[row[1]] = row[0]
		}
	}
	return tokens, nil
}

// AddIdentity writes the kubeconfig of a new user, who logs in by a client
// certificate: the API server reads the token file at its start only.
func (d Dir) AddIdentity(name string, groups []string) (string, error) {
	if !identityName.MatchString(name) {
		return "", fmt.Errorf("%q is no usable identity name: use letters, digits and the signs . _ @ -", name)
	}
	s, err := d.MustLoad()
	if err != nil {
		return "", err
	}
	ca, err := pki.LoadCA(d.Path("pki"))
	if err != nil {
		return "", err
	}
	pair, err := ca.Issue(pki.Request{CommonName: name, Organization: groups})
	if err != nil {
		return "", err
	}
	path := d.IdentityFile(name)
	return path, WriteKubeconfig(path, s.Server, ca.PEM, User{Pair: pair})
}
