// Command githost serves the bare repositories of a folder as a forge does:
// over HTTPS and over SSH, by the stock git programs behind them.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const usage = `githost: serves the repositories below ROOT over HTTPS and SSH, for tests

  githost ROOT KEYS

Writes to KEYS what a client needs: ca.pem, id (a private key that may sign in),
known_hosts. Prints one line for each address, then serves until its standard
input ends. Below https://…/private/ the password is "` + password + `"; what is below
https://…/moved/ answers with a redirection.
`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "githost:", err)
		os.Exit(1)
	}
}

func serve(root, keys string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	https, err := startHTTPS(root, keys)
	if err != nil {
		return fmt.Errorf("https: %w", err)
	}
	ssh, err := startSSH(root, keys)
	if err != nil {
		return fmt.Errorf("ssh: %w", err)
	}
	fmt.Printf("https://%s\nssh://git@%s\n", https, ssh)
	// Whoever started this has gone when its end of the pipe is closed.
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
