// Package agent plays what a cluster has besides its control plane: kubelets,
// the load balancer controller, the volume resizer and, for Services that name
// a local process, kube-proxy. It runs no containers.
package agent

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	apps "k8s.io/client-go/listers/apps/v1"
	core "k8s.io/client-go/listers/core/v1"
	discovery "k8s.io/client-go/listers/discovery/v1"
	storage "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"

	"windlass.dev/testbed/internal/bed"
)

const workers = 8

type agent struct {
	dir    bed.Dir
	state  *bed.State
	client kubernetes.Interface

	pods      core.PodLister
	nodes     core.NodeLister
	services  core.ServiceLister
	secrets   core.SecretLister
	maps      core.ConfigMapLister
	claims    core.PersistentVolumeClaimLister
	volumes   core.PersistentVolumeLister
	slices    discovery.EndpointSliceLister
	classes   storage.StorageClassLister
	revisions apps.ControllerRevisionLister
	sets      apps.ReplicaSetLister

	queue     workqueue.TypedRateLimitingInterface[item]
	informers []cache.SharedIndexInformer
	handlers  map[string]func(context.Context, string, string) (time.Duration, error)

	kubelet   *kubelet
	events    *recorders
	numbers   *numbering
	logs      *logStore
	balancers *balancers
	forwards  *forwards
	secretDir *secretDirs
	synced    chan struct{} // closed once all caches are filled
}

// item is one object to look at.
type item struct{ kind, namespace, name string }

// Run is the body of role node.
func Run(d bed.Dir, s *bed.State) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	cfg, err := clientcmd.BuildConfigFromFlags("", d.Config("node.kubeconfig"))
	if err != nil {
		return err
	}
	// The user agent becomes the field manager, and a tool that reads
	// managedFields expects the kubelet's.
	cfg.QPS, cfg.Burst, cfg.UserAgent = 500, 1000, "kubelet/"+bed.KubernetesVersion+" (testbed)"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	a := &agent{dir: d, state: s, client: client, synced: make(chan struct{}), logs: newLogStore()}
	a.numbers = loadNumbering(d.Path("agent", "revisions.json"))
	a.events = newRecorders(client)
	a.kubelet = newKubelet(a)
	a.balancers = newBalancers(a)
	a.forwards = newForwards(a)
	a.secretDir = newSecretDirs(a)
	a.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](20*time.Millisecond, 2*time.Second))
	a.handlers = map[string]func(context.Context, string, string) (time.Duration, error){
		"pod":     a.kubelet.sync,
		"service": a.service,
		"claim":   a.resize,
		"volume":  a.hostPath,
		"secret":  a.secretDir.sync,
	}
	server, err := a.serveKubelet()
	if err != nil {
		return err
	}
	defer server.Close()

	factory := informers.NewSharedInformerFactory(client, 0)
	a.watch(factory)
	factory.Start(ctx.Done())
	for _, i := range a.informers {
		if !cache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
			return nil
		}
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { a.work(ctx) })
	}
	wg.Go(func() { a.runNodes(ctx) })
	wg.Go(func() { a.forwards.run(ctx) })
	wg.Go(func() { a.secretDir.run(ctx) })
	close(a.synced)
	log.Printf("agent ready: %d nodes", s.Nodes)
	<-ctx.Done()
	a.queue.ShutDown()
	a.balancers.closeAll()
	a.events.stop()
	wg.Wait()
	return nil
}

// watch builds the caches and fills the queue from them.
func (a *agent) watch(f informers.SharedInformerFactory) {
	c := f.Core().V1()
	a.pods, a.nodes, a.services = c.Pods().Lister(), c.Nodes().Lister(), c.Services().Lister()
	a.secrets, a.maps = c.Secrets().Lister(), c.ConfigMaps().Lister()
	a.claims, a.volumes = c.PersistentVolumeClaims().Lister(), c.PersistentVolumes().Lister()
	a.slices = f.Discovery().V1().EndpointSlices().Lister()
	a.classes = f.Storage().V1().StorageClasses().Lister()
	a.revisions = f.Apps().V1().ControllerRevisions().Lister()
	a.sets = f.Apps().V1().ReplicaSets().Lister()
	a.feed("pod", c.Pods().Informer())
	a.feed("service", c.Services().Informer())
	a.feed("claim", c.PersistentVolumeClaims().Informer())
	a.feed("volume", c.PersistentVolumes().Informer())
	a.feed("secret", c.Secrets().Informer())
	a.feed("", c.Nodes().Informer())
	a.feed("", c.ConfigMaps().Informer())
	a.feed("", f.Storage().V1().StorageClasses().Informer())
	a.feedWith(f.Discovery().V1().EndpointSlices().Informer(), a.sliceChanged)
	a.feedWith(f.Apps().V1().ControllerRevisions().Informer(), a.numbers.see)
	a.feedWith(f.Apps().V1().ReplicaSets().Informer(), a.numbers.see)
}

func (a *agent) feed(kind string, i cache.SharedIndexInformer) {
	a.feedWith(i, func(o any) {
		if kind == "" {
			return
		}
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
			ns, name, _ := cache.SplitMetaNamespaceKey(key)
			a.queue.Add(item{kind, ns, name})
		}
	})
}

func (a *agent) feedWith(i cache.SharedIndexInformer, see func(any)) {
	// The agent compares no managed fields; without them the caches are half as big.
	_ = i.SetTransform(stripManagedFields)
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, o any) { see(o) },
		DeleteFunc: see,
	})
	if err != nil {
		log.Fatalf("watch: %v", err)
	}
	a.informers = append(a.informers, i)
}

func stripManagedFields(o any) (any, error) {
	if m, ok := o.(meta.Object); ok {
		m.SetManagedFields(nil) // an update without them keeps those of the server
	}
	return o, nil
}

func (a *agent) work(ctx context.Context) {
	for {
		it, quit := a.queue.Get()
		if quit {
			return
		}
		a.handle(ctx, it)
		a.queue.Done(it)
	}
}

func (a *agent) handle(ctx context.Context, it item) {
	again, err := a.handlers[it.kind](ctx, it.namespace, it.name)
	if err != nil && !apierrors.IsNotFound(err) {
		// A conflict only says that the cache is behind, an end that we stop.
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			log.Printf("%s %s/%s: %v", it.kind, it.namespace, it.name, err)
		}
		a.queue.AddRateLimited(it)
		return
	}
	a.queue.Forget(it)
	if again > 0 {
		a.queue.AddAfter(it, again)
	}
}

// annotation reads one of the testbed's annotations.
func annotation(all map[string]string, name string) (string, bool) {
	v, ok := all[prefix+name]
	return strings.TrimSpace(v), ok
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
