package symptom

import "slices"

// Scope limits the symptoms of a template to some of its Pods. Bad upgrades
// are what it is for: the template carries its symptoms from the start, and
// they begin to act with the second revision, or on one ordinal only.
type Scope struct {
	Ordinals     []int // empty: all
	FromRevision int   // 0: all
	OnlyRevision int   // 0: all
}

// NeedsRevision tells whether Covers depends on the revision.
func (s Scope) NeedsRevision() bool { return s.FromRevision > 0 || s.OnlyRevision > 0 }

// Covers tells whether the symptoms act on a Pod. A Pod without an ordinal has
// -1; one whose owner keeps no revisions has revision 0. A scope that asks for
// what the Pod does not have never covers it.
func (s Scope) Covers(ordinal, revision int) bool {
	if len(s.Ordinals) > 0 && !slices.Contains(s.Ordinals, ordinal) {
		return false
	}
	if s.FromRevision > 0 && revision < s.FromRevision {
		return false
	}
	return s.OnlyRevision == 0 || revision == s.OnlyRevision
}
