package agent

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"

	"windlass.dev/testbed/internal/podsim"
	"windlass.dev/testbed/internal/symptom"
)

// logQuery is what a reader of a log asks for.
type logQuery struct {
	follow, previous, timestamps bool
	tail                         int // -1: all
	limit                        int // bytes, -1: all
	since                        time.Time
}

func parseLogQuery(r *http.Request, now time.Time) (logQuery, error) {
	q := logQuery{tail: -1, limit: -1}
	v := r.URL.Query()
	q.follow, _ = strconv.ParseBool(v.Get("follow"))
	q.previous, _ = strconv.ParseBool(v.Get("previous"))
	q.timestamps, _ = strconv.ParseBool(v.Get("timestamps"))
	for name, to := range map[string]*int{"tailLines": &q.tail, "limitBytes": &q.limit} {
		if text := v.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return q, fmt.Errorf("%s=%s is no number", name, text)
			}
			*to = n
		}
	}
	if text := v.Get("sinceSeconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return q, fmt.Errorf("sinceSeconds=%s is no number", text)
		}
		q.since = now.Add(-time.Duration(n) * time.Second)
	}
	if text := v.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return q, fmt.Errorf("sinceTime: %w", err)
		}
		q.since = t
	}
	return q, nil
}

func (a *agent) serveLogs(w http.ResponseWriter, r *http.Request) {
	pod, err := a.requested(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	q, err := parseLogQuery(r, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	container := r.PathValue("container")
	run := a.logs.run(pod.UID, container, q.previous)
	if run == nil && (q.previous || !started(pod, container)) {
		http.Error(w, missingLog(pod, container, q.previous), http.StatusBadRequest)
		return
	}
	if run == nil { // it began before the agent was restarted
		sym, _, _ := symptom.Parse(pod.Annotations)
		a.kubelet.Log(pod, container, true, podsim.FirstLog(pod, sym, container))
		run = a.logs.run(pod.UID, container, false)
	}
	w.Header().Set("Content-Type", "text/plain")
	a.copyLog(w, r, q, run)
}

func (a *agent) copyLog(w http.ResponseWriter, r *http.Request, q logQuery, run *logRun) {
	lines, ended := a.logs.read(run, 0)
	seen := len(lines)
	for len(lines) > 0 && lines[0].at.Before(q.since) {
		lines = lines[1:]
	}
	if q.tail >= 0 && len(lines) > q.tail {
		lines = lines[len(lines)-q.tail:]
	}
	left := q.limit
	for {
		for _, l := range lines {
			text := l.text + "\n"
			if q.timestamps {
				text = l.at.Format(time.RFC3339Nano) + " " + text
			}
			if left >= 0 {
				text = text[:min(len(text), left)]
				left -= len(text)
			}
			if _, err := w.Write([]byte(text)); err != nil || left == 0 {
				return
			}
		}
		if !q.follow || ended {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		lines, ended = a.logs.read(run, seen)
		seen += len(lines)
	}
}

func started(pod *core.Pod, container string) bool {
	for _, all := range [][]core.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range all {
			if c.Name == container {
				return c.State.Running != nil || c.State.Terminated != nil
			}
		}
	}
	return false
}

func missingLog(pod *core.Pod, container string, previous bool) string {
	if previous {
		return fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod.Name)
	}
	why := "ContainerCreating"
	for _, all := range [][]core.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range all {
			if c.Name == container && c.State.Waiting != nil {
				why = c.State.Waiting.Reason
			}
		}
	}
	if why == "ImagePullBackOff" || why == "ErrImagePull" {
		why = "trying and failing to pull image"
	}
	return fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, pod.Name, why)
}
