package zklock

import "testing"

// What the ZooKeeper Programmer's Guide says of the characters of paths ("The ZooKeeper Data Model").
func TestForbiddenCharacters(t *testing.T) {
	for r, want := range map[rune]bool{
		0: true, 0x1f: true, ' ': false, '~': false, 0x7f: true, 0x9f: true, 0xa0: false, 0xd7ff: false, 0xe000: true,
		0xf8ff: true, 0xf900: false, 0xffef: false, 0xfff0: true, 0xffff: true, 0x10000: true,
	} {
		if got := forbidden(r); got != want {
			t.Errorf("%U: %v, want %v", r, got, want)
		}
		if err := checkPath("/a" + string(r)); (err != nil) != want {
			t.Errorf("%U in a path: %v", r, err)
		}
	}
}
