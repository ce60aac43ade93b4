// Package role runs one role of the control plane in this process. The stock
// commands install signal handlers and global registries, which is why two of
// them can never share a process.
package role

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kcmapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	schedapp "k8s.io/kubernetes/cmd/kube-scheduler/app"

	// What the stock main packages import as well.
	_ "time/tzdata"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"windlass.dev/testbed/internal/agent"
	"windlass.dev/testbed/internal/bed"
)

// Run is the body of a role's process; it returns the exit code.
func Run(name string, d bed.Dir) int {
	s, err := d.MustLoad()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go guard(d, s.Watch)
	switch name {
	case "etcd":
		return report(runEtcd(d, s))
	case "apiserver":
		return runStock(newAPIServer(d, s), apiserverArgs(d, s))
	case "kcm":
		prepareHostPaths()
		return runStock(kcmapp.NewControllerManagerCommand(), kcmArgs(d, s))
	case "scheduler":
		return runStock(schedapp.NewSchedulerCommand(), schedulerArgs(d, s))
	case "node":
		return report(agent.Run(d, s))
	}
	return report(fmt.Errorf("unknown role %q: the roles are %v", name, bed.Roles))
}

func runStock(cmd *cobra.Command, args []string) int {
	cmd.SetArgs(args)
	return cli.Run(cmd)
}

func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
