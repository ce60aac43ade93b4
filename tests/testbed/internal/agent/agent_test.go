package agent

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNumberingKeepsTheFirstNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), "revisions.json")
	n := loadNumbering(file)
	revision := func(uid string, number int64) *apps.ControllerRevision {
		return &apps.ControllerRevision{ObjectMeta: meta.ObjectMeta{UID: types.UID(uid)}, Revision: number}
	}
	n.see(revision("a", 1))
	n.see(revision("b", 2))
	n.see(revision("a", 3)) // the old template was applied again
	n.see(&apps.ReplicaSet{ObjectMeta: meta.ObjectMeta{UID: "r", Annotations: map[string]string{deploymentRevision: "4"}}})
	for _, n := range []*numbering{n, loadNumbering(file)} {
		for uid, want := range map[types.UID]int{"a": 1, "b": 2, "r": 4} {
			if got, ok := n.of(uid); !ok || got != want {
				t.Errorf("%s is number %d, want %d", uid, got, want)
			}
		}
	}
}

func TestOrdinal(t *testing.T) {
	owner := []meta.OwnerReference{{Kind: "StatefulSet", Controller: new(true)}}
	for _, c := range []struct {
		pod  core.Pod
		want int
	}{
		{core.Pod{ObjectMeta: meta.ObjectMeta{Name: "db-12", OwnerReferences: owner}}, 12},
		{core.Pod{ObjectMeta: meta.ObjectMeta{Name: "db-12", Labels: map[string]string{apps.PodIndexLabel: "3"}, OwnerReferences: owner}}, 3},
		{core.Pod{ObjectMeta: meta.ObjectMeta{Name: "job-x", Annotations: map[string]string{"batch.kubernetes.io/job-completion-index": "4"}}}, 4},
		{core.Pod{ObjectMeta: meta.ObjectMeta{Name: "web-2"}}, -1},
	} {
		if got := ordinal(&c.pod); got != c.want {
			t.Errorf("%s: ordinal %d, want %d", c.pod.Name, got, c.want)
		}
	}
}

func TestParseRule(t *testing.T) {
	r, err := parseRule("ns/hook:443=127.0.0.1:8443")
	if err != nil || r != (rule{"ns/hook", "443", "127.0.0.1:8443"}) {
		t.Errorf("%+v %v", r, err)
	}
	for _, bad := range []string{"", "hook:443=127.0.0.1:1", "ns/hook:443", "ns/hook:443=127.0.0.1"} {
		if _, err := parseRule(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestPerPort(t *testing.T) {
	svc := &core.Service{ObjectMeta: meta.ObjectMeta{Annotations: map[string]string{
		prefix + "protocol": "5672=tcp, management=http", prefix + "tls": "true", prefix + "forward": "443=127.0.0.1:8443"}}}
	amqp, management := core.ServicePort{Port: 5672}, core.ServicePort{Port: 15672, Name: "management"}
	if perPort(svc, "protocol", amqp) != "tcp" || perPort(svc, "protocol", management) != "http" || perPort(svc, "tls", amqp) != "true" {
		t.Error("a list of ports is misread")
	}
	if forwardTarget(svc, amqp) != "" || forwardTarget(svc, core.ServicePort{Port: 443}) != "127.0.0.1:8443" {
		t.Error("the target of a forward is misread")
	}
}

func TestListenersFollowWhatIsWanted(t *testing.T) {
	l := newListeners()
	defer l.closeAll()
	l.answer = func(endpoint) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	}
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	want := map[string]endpoint{addr: {mode: "http", service: "ns/a"}}
	if bad := l.set("a", want); bad[addr] == nil {
		t.Fatal("an address in use was taken")
	}
	free.Close()
	if bad := l.set("a", want); len(bad) > 0 {
		t.Fatal(bad)
	}
	if bad := l.set("b", want); bad[addr] == nil {
		t.Error("two owners share an address")
	}
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{Proxy: nil}}
	resp, err := client.Get("http://" + addr)
	if err != nil || resp.StatusCode != http.StatusTeapot {
		t.Fatalf("%v %v", resp, err)
	}
	resp.Body.Close()
	l.set("a", nil)
	if _, err := client.Get("http://" + addr); err == nil {
		t.Error("it answers although nothing is wanted")
	}
}

func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	for _, data := range []map[string][]byte{{"a": []byte("1"), "b": []byte("2")}, {"a": []byte("3")}} {
		if err := writeFolder(dir, data); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(files) != len(data) {
			t.Errorf("files %v, want %d", files, len(data))
		}
	}
}

func TestLogQuery(t *testing.T) {
	r, _ := http.NewRequest("GET", "https://x/?tailLines=3&follow=true&sinceSeconds=10", nil)
	now := time.Now()
	q, err := parseLogQuery(r, now)
	if err != nil || q.tail != 3 || !q.follow || !q.since.Equal(now.Add(-10*time.Second)) || q.limit != -1 {
		t.Errorf("%+v %v", q, err)
	}
	r, _ = http.NewRequest("GET", "https://x/?tailLines=x", nil)
	if _, err := parseLogQuery(r, now); err == nil {
		t.Error("a bad number was taken")
	}
}
