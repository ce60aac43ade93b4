// Command flux applies or compares a folder with the engine of Flux, in the
// way of its kustomize-controller but without a rate limit of its own.
//
//	flux apply|diff KUBECONFIG FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// inFlight is how many dry-runs are under way: more gains nothing.
const inFlight = 8

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: flux apply|diff KUBECONFIG FOLDER")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, action, kubeconfig, folder string) error {
	engine, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	objects, err := read(folder)
	if err != nil {
		return err
	}
	engine.SetOwnerLabels(objects, "bench", "default")
	switch action {
	case "apply":
		_, err = engine.ApplyAllStaged(ctx, objects, ssa.DefaultApplyOptions())
		return err
	case "diff":
		return diff(ctx, engine, objects)
	}
	return fmt.Errorf("unknown action %q", action)
}

func connect(kubeconfig string) (*ssa.ResourceManager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, transport)
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{HTTPClient: transport, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(c, mapper, polling.Options{})
	engine := ssa.NewResourceManager(c, poller, ssa.Owner{Field: "flux", Group: "bench.windlass.dev"})
	engine.SetConcurrency(inFlight)
	return engine, nil
}

func read(folder string) ([]*unstructured.Unstructured, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		objects, err := utils.ReadObjects(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// diff tells each object that differs. The engine compares one at a time.
func diff(ctx context.Context, engine *ssa.ResourceManager, objects []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for _, object := range objects {
		group.Go(func() error {
			entry, _, _, err := engine.Diff(ctx, object, ssa.DefaultDiffOptions())
			if err == nil && entry.Action != ssa.UnchangedAction {
				fmt.Println(entry)
			}
			return err
		})
	}
	return group.Wait()
}
