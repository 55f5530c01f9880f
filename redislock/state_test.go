package redislock

import (
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// Things are where the words of the scripts say.
func TestPlacesInState(t *testing.T) {
	srv := servers.Redis(t)
	d := openNative(t, srv.Addr)
	c := claimed.Acquire(t, d, mutex("jobs", "SERIES_00000007"))
	k, _ := d.keys.of("jobs")
	state := strings.TrimSpace(srv.RedisCommand(t, "HGET", k.claims, "~"))
	at := make(map[string]int)
	for pairs := places(); len(pairs) > 0; pairs = pairs[2:] {
		at[pairs[0]], _ = strconv.Atoi(pairs[1])
	}
	f := strings.Fields(state)
	for what, place := range map[string]struct {
		got, want string
	}{
		"kind":    {state[at["KIND_AT"]-1 : at["TOKEN_AT"]-2], "h"},
		"token":   {state[at["TOKEN_AT"]-1 : at["TOKEN_END"]], tokenText(c.Token)},
		"refresh": {state[at["REFRESH_AT"]-1 : at["REFRESH_END"]], f[3]},
		"ID":      {state[at["ID_AT"]-1:][:len(c.ID)], c.ID},
		"series":  {c.ID[:len(c.ID)+at["SERIES_END"]+1], "SERIES_"},
		"number":  {c.ID[len(c.ID)+at["NUMBER_AT"]:], "00000007"},
		"ms":      {f[2][:len(f[2])+at["MS_END"]+1], f[2][:renewedWidth]},
	} {
		if place.got != place.want {
			t.Errorf("the %s of %q is %q, want %q", what, state, place.got, place.want)
		}
	}
}

// What scripts wrote is read field by field, and what nobody wrote is refused.
func TestRecords(t *testing.T) {
	const good = "1 g 1234567890123456 2000 1000 1 2 500 ~abc 3 7:a ownerany value"
	r, ok := parseRecord(good)
	want := record{"1", "g", 1234567890123456, 2000, 1000, 1, 2, 500, "~abc", 3, "a owner", "any value"}
	if !ok || r != want {
		t.Errorf("%q is read as %+v, %v", good, r, ok)
	}
	for _, bad := range []string{
		"", "1", "1 g 12", "1 g x 2000 1000 1 2 500 ~abc 3 0:",
		"1 g 1 2000 1000 1 2 500 ~abc 3 8:a owner", "1 g 1 2000 1000 1 2 500 ~abc 3 -1:",
		"1 g 1 2000 1000 1 2 500 ~abc 3 no length",
	} {
		if r, ok := parseRecord(bad); ok {
			t.Errorf("%q is read as %+v", bad, r)
		}
	}
	for text, want := range map[string]answer{
		"w 0 25 0":               {mark: "w", retry: 25, left: -1},
		"g 1234567890123456 0 1": {mark: "g", token: 1234567890123456, contended: true, left: -1},
		"v 7 0 0 left 12":        {mark: "v", token: 7, left: 12},
	} {
		if a, ok := parseAnswer(text); !ok || a != want {
			t.Errorf("%q is read as %+v, %v", text, a, ok)
		}
	}
	for _, bad := range []string{"", "g", "g 1", "g 1 0", "g one 0 0", "g 1 soon 0", "g 1 0 0 left many"} {
		if a, ok := parseAnswer(bad); ok {
			t.Errorf("%q is read as %+v", bad, a)
		}
	}
}
