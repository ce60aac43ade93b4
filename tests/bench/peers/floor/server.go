package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// server is an API server that is asked a few things at a time.
type server struct {
	client *http.Client
	base   string
	slots  chan struct{}
	group  sync.WaitGroup
	mu     sync.Mutex
	failed error
}

// connect reads the folder of a control plane and logs in as its admin.
func connect(bed string, inFlight int) (*server, error) {
	var state struct {
		Server string `json:"server"`
	}
	text, err := os.ReadFile(filepath.Join(bed, "state.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, err
	}
	pki := filepath.Join(bed, "pki")
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("ca.crt holds no certificate")
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
	}
	client := &http.Client{Transport: transport}
	return &server{client: client, base: state.Server, slots: make(chan struct{}, inFlight)}, nil
}

// start does something as soon as a slot is free. The first error counts.
func (s *server) start(do func() error) {
	s.slots <- struct{}{}
	s.group.Go(func() {
		err := do()
		<-s.slots
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed == nil {
			s.failed = err
		}
	})
}

// wait returns when everything that was started is done.
func (s *server) wait() error {
	s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *server) pages(collection, accept string) error {
	query := url.Values{"limit": {"500"}}
	for {
		body, err := s.send(http.MethodGet, collection+"?"+query.Encode(), http.Header{"Accept": {accept}}, nil)
		if err != nil {
			return err
		}
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		if page.Metadata.Continue == "" {
			return nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

func (s *server) patch(path string, object []byte) error {
	_, err := s.send(http.MethodPatch, path, http.Header{"Content-Type": {"application/apply-patch+yaml"}}, object)
	return err
}

func (s *server) send(method, path string, header http.Header, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode > 299 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
	}
	return answer, err
}
