package role

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// The log-in plugins of the stock command.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"windlass.dev/testbed/internal/bed"
)

// Kubectl is the stock command. It reads os.Args, as the stock main does,
// because plugins and the verbosity flag are looked up there.
func Kubectl(args []string) {
	if d := testbedOf(args); d != "" && os.Getenv("KUBECACHEDIR") == "" {
		// Testbeds use the same few ports again and again: what one of them
		// told about its API must not be kept for the next.
		os.Setenv("KUBECACHEDIR", d.Path("tmp", "kubectl"))
	}
	os.Args = append([]string{"kubectl"}, args...)
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

// testbedOf finds the testbed whose kubeconfig will be used.
func testbedOf(args []string) bed.Dir {
	path := os.Getenv("KUBECONFIG")
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--kubeconfig="); ok {
			path = v
		} else if a == "--kubeconfig" && i+1 < len(args) {
			path = args[i+1]
		}
	}
	for _, up := range []string{".", ".."} {
		d, err := bed.Open(filepath.Join(filepath.Dir(path), up))
		if err != nil || path == "" {
			return ""
		}
		if _, err := os.Stat(d.StateFile()); err == nil {
			if _, err := os.Stat(d.TokenFile()); err == nil {
				return d
			}
		}
	}
	return ""
}
