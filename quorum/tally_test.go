package quorum

import "testing"

// A verdict is given as soon as no vote that is still to come can change it, and not before.
func TestJudge(t *testing.T) {
	const proposed = 7
	yes := vote{answer: granted, token: proposed, counts: true}
	greater := vote{answer: granted, token: proposed + 1, counts: true}
	forgetful := vote{answer: granted, token: proposed}
	far := vote{answer: granted, token: proposed + 2*farAhead, counts: true}
	no, gone, away, silent := vote{answer: refused}, vote{answer: barred}, vote{answer: failed}, vote{}
	for _, row := range []struct {
		name  string
		votes []vote
		want  verdict
	}{
		{"a majority has it under the token", []vote{yes, yes, yes, silent, silent}, won},
		{"half and a bit are needed", []vote{yes, yes, no, no, silent}, undecided},
		{"one of a majority knows a greater token", []vote{yes, yes, greater, no, no}, behind},
		{"two know a token of the far future, the others may not", []vote{far, far, yes, silent, silent}, undecided},
		{"two know a token of the far future, a majority does not", []vote{far, far, yes, yes, yes}, won},
		{"two know a token of the far future, and are needed", []vote{far, far, yes, yes, away}, short},
		{"two know a token of the far future, one is taken", []vote{far, far, yes, yes, no}, taken},
		{"two know a token of the far future, one a greater one", []vote{far, far, yes, yes, greater}, behind},
		{"a majority is far ahead of the client", []vote{far, far, far, silent, silent}, behind},
		{"who forgot is not of a majority", []vote{yes, yes, forgetful, silent, silent}, undecided},
		{"who forgot cannot be made up for", []vote{yes, yes, forgetful, away, away}, short},
		{"a majority has granted it to others", []vote{no, no, no, silent, silent}, taken},
		{"it has ended at a majority", []vote{gone, gone, gone, silent, silent}, ended},
		{"it has ended here, and is taken there", []vote{no, no, gone, away, away}, divided},
		{"it has ended at a half, and is taken at the other", []vote{no, no, gone, gone}, ended},
		{"it is taken at a half, and may have ended at the other", []vote{no, no, gone, silent}, undecided},
		{"it is taken at a half, and has not ended at the other", []vote{no, no, silent, away}, taken},
		{"others may have it: those who are silent will tell", []vote{no, silent, silent, away, away}, undecided},
		{"nobody said that others have it", []vote{silent, silent, away, away, away}, short},
		{"too few answer", []vote{yes, yes, away, away, away}, short},
	} {
		if got := judge(row.votes, proposed); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// A token of the far future is outbid only where a majority does not do without.
func TestNext(t *testing.T) {
	const proposed, future = 7, 7 + 2*farAhead
	yes := vote{answer: granted, token: proposed, counts: true}
	greater := vote{answer: granted, token: proposed + 3, counts: true}
	far := vote{answer: granted, token: future, counts: true}
	away, no := vote{answer: failed}, vote{answer: refused, token: future}
	for _, row := range []struct {
		name  string
		votes []vote
		want  uint64
	}{
		{"one knows a greater one", []vote{yes, yes, greater}, proposed + 4},
		{"one of the others is ahead", []vote{greater, yes, far}, proposed + 4},
		{"the one that is ahead is needed", []vote{away, yes, far}, proposed + 1},
		{"the one that is ahead is needed, as another refuses", []vote{no, yes, far}, proposed + 1},
		{"all refuse that have answered", []vote{no, no, {}}, proposed + 1},
		{"most are ahead", []vote{far, yes, far}, future + 1},
		{"one that is ahead refuses", []vote{yes, greater, no}, proposed + 4},
	} {
		if got := next(row.votes, proposed); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
