package agent

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// line is one line of a container's log.
type line struct {
	at   time.Time
	text string
}

// logRun is the log of one run of a container.
type logRun struct {
	lines []line
	ended bool
}

// logStore keeps the logs of the present and the previous run of containers.
type logStore struct {
	mu   sync.Mutex
	pods map[types.UID]map[string][]*logRun
}

func newLogStore() *logStore { return &logStore{pods: map[types.UID]map[string][]*logRun{}} }

// write adds lines; first begins a new run.
func (s *logStore) write(uid types.UID, container string, first bool, text []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.pods[uid]
	if pod == nil {
		pod = map[string][]*logRun{}
		s.pods[uid] = pod
	}
	runs := pod[container]
	if first || len(runs) == 0 {
		runs = append(runs, &logRun{})
		if len(runs) > 2 {
			runs = runs[len(runs)-2:]
		}
		pod[container] = runs
	}
	run := runs[len(runs)-1]
	for _, t := range text {
		run.lines = append(run.lines, line{time.Now().UTC(), t})
	}
	run.ended = !first // the one line after the first ones tells of the end
}

// run is the log of the present run, or of the one before it. A reader may
// keep it: it outlives the Pod.
func (s *logStore) run(uid types.UID, container string, previous bool) *logRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := s.pods[uid][container]
	n := len(runs) - 1
	if previous {
		n--
	}
	if n < 0 {
		return nil
	}
	return runs[n]
}

// read copies the lines of a run from the n-th on.
func (s *logStore) read(run *logRun, n int) (lines []line, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]line(nil), run.lines[n:]...), run.ended
}

func (s *logStore) forget(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, runs := range s.pods[uid] {
		for _, r := range runs {
			r.ended = true
		}
	}
	delete(s.pods, uid)
}
