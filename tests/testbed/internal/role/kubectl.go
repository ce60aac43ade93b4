package role

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// The log-in plugins of the stock command.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// Kubectl is the stock command. It reads os.Args, as the stock main does,
// because plugins and the verbosity flag are looked up there.
func Kubectl(args []string) {
	os.Args = append([]string{"kubectl"}, args...)
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
