package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// startSSH serves `git-upload-pack` to whoever holds the key that is written to
// keys, and returns the address.
func startSSH(root, keys string) (string, error) {
	host, err := newSigner("")
	if err != nil {
		return "", err
	}
	client, err := newSigner(filepath.Join(keys, "id"))
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := listener.Addr().String()
	line := knownhosts.Line([]string{knownhosts.Normalize(address)}, host.PublicKey())
	if err := os.WriteFile(filepath.Join(keys, "known_hosts"), []byte(line+"\n"), 0o600); err != nil {
		return "", err
	}
	config := &ssh.ServerConfig{PublicKeyCallback: only(client.PublicKey())}
	config.AddHostKey(host)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(connection, config, root)
		}
	}()
	return address, nil
}

// newSigner makes a key and writes its private half to path, unless that is empty.
func newSigner(path string) (ssh.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	if path != "" {
		block, err := ssh.MarshalPrivateKey(private, "githost")
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
	}
	return ssh.NewSignerFromKey(private)
}

func only(allowed ssh.PublicKey) func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
	return func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if bytes.Equal(key.Marshal(), allowed.Marshal()) {
			return &ssh.Permissions{}, nil
		}
		return nil, errors.New("unknown key")
	}
}

func serveSSH(connection net.Conn, config *ssh.ServerConfig, root string) {
	server, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	defer server.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go serveSession(channel, requests, root)
	}
}

// serveSession runs the one command that a session may run.
func serveSession(channel ssh.Channel, requests <-chan *ssh.Request, root string) {
	defer channel.Close()
	for request := range requests {
		if request.Type != "exec" {
			// `env` with GIT_PROTOCOL, among others: git does without.
			_ = request.Reply(false, nil)
			continue
		}
		_ = request.Reply(true, nil)
		var asked struct{ Command string }
		code := uint32(128)
		if err := ssh.Unmarshal(request.Payload, &asked); err == nil {
			code = uploadPack(channel, asked.Command, root)
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{code}))
		return
	}
}

func uploadPack(channel ssh.Channel, command, root string) uint32 {
	path, found := strings.CutPrefix(command, "git-upload-pack '")
	path, quoted := strings.CutSuffix(path, "'")
	if !found || !quoted || strings.Contains(path, "..") {
		fmt.Fprintf(channel.Stderr(), "githost: %q is not served\n", command)
		return 128
	}
	git := exec.Command("git", "upload-pack", filepath.Join(root, path))
	git.Env = gitEnvironment()
	git.Stdout, git.Stderr = channel, channel.Stderr()
	// A pipe of our own: with Stdin, Run would also wait for the client to close its side.
	stdin, err := git.StdinPipe()
	if err != nil {
		return 128
	}
	go func() {
		_, _ = io.Copy(stdin, channel)
		_ = stdin.Close()
	}()
	if err := git.Run(); err != nil {
		return 128
	}
	return 0
}
