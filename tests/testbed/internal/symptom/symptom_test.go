package symptom

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	s, scope, problems := Parse(map[string]string{
		Prefix + "ready-after":   "never",
		Prefix + "start-after":   "2s",
		Prefix + "crash-loop":    "true",
		Prefix + "exit-code":     "3",
		Prefix + "only-ordinals": "1, 2",
		Prefix + "from-revision": "2",
		"example.com/other":      "ignored",
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if !s.ReadyAfter.Never || s.StartAfter.D != 2*time.Second || !s.CrashLoop || *s.ExitCode != 3 {
		t.Errorf("read %+v", s)
	}
	if len(scope.Ordinals) != 2 || scope.FromRevision != 2 {
		t.Errorf("read %+v", scope)
	}
}

func TestParseReportsMistakes(t *testing.T) {
	for name, value := range map[string]string{
		"ready-afer": "1s", "ready-after": "soon", "fail-times": "0", "oom": "perhaps",
		"only-ordinals": "1,x", "exit-code": "-1", "stop-after": "-1s",
	} {
		if _, _, p := Parse(map[string]string{Prefix + name: value}); len(p) != 1 || !strings.Contains(p[0], name) {
			t.Errorf("%s=%s: problems %v", name, value, p)
		}
	}
}

func TestDelayOr(t *testing.T) {
	if d, never := (Delay{}).Or(time.Second); d != time.Second || never {
		t.Error("the default is not used")
	}
	if _, never := (Delay{Set: true, Never: true}).Or(time.Second); !never {
		t.Error("never is lost")
	}
}

func TestScope(t *testing.T) {
	for _, c := range []struct {
		scope             Scope
		ordinal, revision int
		want              bool
	}{
		{Scope{}, -1, 0, true},
		{Scope{Ordinals: []int{2}}, 2, 1, true},
		{Scope{Ordinals: []int{2}}, 1, 1, false},
		{Scope{Ordinals: []int{0}}, -1, 1, false},
		{Scope{FromRevision: 2}, 0, 1, false},
		{Scope{FromRevision: 2}, 0, 2, true},
		{Scope{FromRevision: 2}, 0, 5, true},
		{Scope{FromRevision: 1}, 0, 0, false},
		{Scope{OnlyRevision: 2}, 0, 2, true},
		{Scope{OnlyRevision: 2}, 0, 3, false},
		{Scope{FromRevision: 2, Ordinals: []int{1}}, 0, 2, false},
	} {
		if got := c.scope.Covers(c.ordinal, c.revision); got != c.want {
			t.Errorf("%+v covers ordinal %d revision %d: %v", c.scope, c.ordinal, c.revision, got)
		}
	}
}
