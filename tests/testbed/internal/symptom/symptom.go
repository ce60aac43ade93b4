// Package symptom reads the annotations by which a test says how a Pod should
// misbehave.
package symptom

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Prefix begins the name of every annotation of the testbed.
const Prefix = "testbed.windlass.dev/"

// Delay is a duration or "never".
type Delay struct {
	Set   bool
	Never bool
	D     time.Duration
}

// Or returns the delay, or the default where none is set.
func (d Delay) Or(def time.Duration) (after time.Duration, never bool) {
	if !d.Set {
		return def, false
	}
	return d.D, d.Never
}

// Set is what the annotations of one Pod ask for. Its zero value is a Pod
// without any symptom.
type Set struct {
	StartAfter, ReadyAfter, UnreadyAfter Delay
	RunFor, StopAfter, EvictAfter        Delay
	ImagePullError, CrashLoop, OOM       bool
	ConfigError                          string
	FailTimes                            int
	ExitCode                             *int32
	Logs                                 string
	HasLogs                              bool
	Container                            string
	ExecOutput                           string
	ExecCode                             int
}

// Parse reads the annotations of a Pod. Unknown or unreadable ones are
// returned as problems, so that a typing error in a test does not stay silent.
func Parse(annotations map[string]string) (Set, Scope, []string) {
	var s Set
	var scope Scope
	var problems []string
	for key, value := range annotations {
		name, ok := strings.CutPrefix(key, Prefix)
		if !ok {
			continue
		}
		if err := s.read(&scope, name, value); err != nil {
			problems = append(problems, fmt.Sprintf("annotation %s: %v", key, err))
		}
	}
	sort.Strings(problems)
	return s, scope, problems
}

func (s *Set) read(scope *Scope, name, value string) (err error) {
	switch name {
	case "start-after":
		s.StartAfter, err = parseDelay(value)
	case "ready-after":
		s.ReadyAfter, err = parseDelay(value)
	case "unready-after":
		s.UnreadyAfter, err = parseDelay(value)
	case "run-for":
		s.RunFor, err = parseDelay(value)
	case "stop-after":
		s.StopAfter, err = parseDelay(value)
	case "evict-after":
		s.EvictAfter, err = parseDelay(value)
	case "image-pull-error":
		s.ImagePullError, err = strconv.ParseBool(value)
	case "crash-loop":
		s.CrashLoop, err = strconv.ParseBool(value)
	case "oom":
		s.OOM, err = strconv.ParseBool(value)
	case "config-error":
		s.ConfigError = value
	case "fail-times":
		s.FailTimes, err = parseCount(value, 1)
	case "exit-code":
		var n int
		n, err = parseCount(value, 0)
		s.ExitCode = new(int32(n))
	case "logs":
		s.Logs, s.HasLogs = value, true
	case "container":
		s.Container = value
	case "exec-output":
		s.ExecOutput = value
	case "exec-exit-code":
		s.ExecCode, err = parseCount(value, 0)
	case "only-ordinals":
		scope.Ordinals, err = parseOrdinals(value)
	case "from-revision":
		scope.FromRevision, err = parseCount(value, 1)
	case "only-revision":
		scope.OnlyRevision, err = parseCount(value, 1)
	case "secret-dir": // read by the writer of Secret volumes
	default:
		err = fmt.Errorf("no such symptom")
	}
	return err
}

func parseDelay(value string) (Delay, error) {
	if value == "never" {
		return Delay{Set: true, Never: true}, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return Delay{}, fmt.Errorf("%q is neither a duration such as 2s nor never", value)
	}
	return Delay{Set: true, D: d}, nil
}

func parseCount(value string, least int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < least {
		return 0, fmt.Errorf("%q is no number from %d on", value, least)
	}
	return n, nil
}

func parseOrdinals(value string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(value, ",") {
		n, err := parseCount(part, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
