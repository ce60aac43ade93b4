package podsim

import "time"

// How fast the imitated kubelet is. Real Pods need seconds to minutes; tests
// want to see the same states in the same order, soon.
const (
	DefaultStart = 150 * time.Millisecond // accepted to running
	DefaultReady = 150 * time.Millisecond // running to ready
	DefaultRun   = 300 * time.Millisecond // life of a container that ends
	DefaultStop  = 200 * time.Millisecond // graceful termination

	initRun    = 50 * time.Millisecond
	pullRetry  = 300 * time.Millisecond // ErrImagePull to ImagePullBackOff
	lookRetry  = 300 * time.Millisecond // is the missing object there now?
	mountRetry = 2 * time.Second        // a FailedMount event at most so often
	probeRetry = 2 * time.Second        // an Unhealthy event at most so often
	firstRetry = 100 * time.Millisecond // first restart of a container
)

const (
	backOffBase = time.Second
	backOffMax  = 10 * time.Second
)

// backOff is the wait before a restart after the n-th failure in a row. The
// kubelet restarts once without a wait, then waits 10 s, 20 s, 40 s, up to 5
// minutes; here it is 1 s, 2 s, 4 s, up to 10 s.
func backOff(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	d := backOffBase
	for range n - 2 {
		if d *= 2; d >= backOffMax {
			return backOffMax
		}
	}
	return d
}
