// Command testbed is a Kubernetes control plane for tests in one binary. See
// the README beside go.mod.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"windlass.dev/testbed/internal/bed"
	"windlass.dev/testbed/internal/role"
	"windlass.dev/testbed/internal/supervisor"
)

const usage = `testbed: the real Kubernetes ` + bed.KubernetesVersion + ` control plane for tests

  testbed up DIR [--nodes N] [--audit-level LEVEL] [--forward NS/SVC:PORT=HOST:PORT]... [--watch-pid PID] [--timeout D]
  testbed down DIR             stop everything; the data stays
  testbed status DIR           one line for each role; exit code 1 unless all are healthy
  testbed restart DIR ROLE     stop and start on the same data
  testbed kill DIR ROLE        as a crash would (SIGKILL)
  testbed start DIR ROLE       after a kill
  testbed logs DIR ROLE
  testbed identity DIR NAME [--group G]...   write a kubeconfig for one more user; prints its path
  testbed kubectl ARGS...      the stock kubectl (also when called by that name)

Roles: etcd, apiserver, kcm, scheduler, node.
`

func main() {
	if filepath.Base(os.Args[0]) == "kubectl" {
		role.Kubectl(os.Args[1:])
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	name, args := os.Args[1], os.Args[2:]
	switch name {
	case "kubectl":
		role.Kubectl(args)
		return
	case "role": // internal: what `up` starts
		if len(args) != 2 {
			fmt.Fprintln(os.Stderr, "usage: testbed role ROLE DIR")
			os.Exit(2)
		}
		os.Exit(role.Run(args[0], bed.Dir(args[1])))
	case "help", "-h", "--help":
		fmt.Print(usage)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, name, args)
	stop()
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testbed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) error {
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.Usage = func() {}
	var o supervisor.Options
	var groups []string
	want := 1
	switch name {
	case "up":
		flags.IntVar(&o.Nodes, "nodes", 0, "")
		flags.StringVar(&o.AuditLevel, "audit-level", "", "")
		flags.StringArrayVar(&o.Forwards, "forward", nil, "")
		flags.IntVar(&o.WatchPID, "watch-pid", 0, "")
		flags.DurationVar(&o.Timeout, "timeout", 3*time.Minute, "")
	case "identity":
		flags.StringArrayVar(&groups, "group", nil, "")
		want = 2
	case "restart", "kill", "start", "logs":
		want = 2
	case "down", "status":
	default:
		return fmt.Errorf("unknown command %q\n%s", name, usage)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != want {
		return fmt.Errorf("%s takes %d arguments, not %d (%s)\n%s", name, want, flags.NArg(), strings.Join(flags.Args(), " "), usage)
	}
	d, err := bed.Open(flags.Arg(0))
	if err != nil {
		return err
	}
	if name != "up" && name != "down" && name != "identity" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
	}
	switch name {
	case "up":
		return supervisor.Up(ctx, d, o, os.Stdout)
	case "down":
		return supervisor.Down(d, os.Stdout)
	case "restart":
		return supervisor.Restart(ctx, d, flags.Arg(1))
	case "start":
		return supervisor.Start(ctx, d, flags.Arg(1))
	case "kill":
		return supervisor.Kill(d, flags.Arg(1))
	case "logs":
		return supervisor.Logs(d, flags.Arg(1), os.Stdout)
	case "status":
		good, err := supervisor.Status(ctx, d, os.Stdout)
		if err == nil && !good {
			err = errors.New("not all roles are healthy")
		}
		return err
	}
	path, err := d.AddIdentity(flags.Arg(1), groups)
	if err == nil {
		fmt.Println(path)
	}
	return err
}
