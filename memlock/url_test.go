package memlock

import (
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// FuzzURL writes the name that a URL gives to a store as a URL again. That must give the same name.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"mem:a", "mem:a b,c@d", "mem:a%2Fb", "mem://a", "mem:a#b", "mem:a?b", "mem:/a", "MEM:a",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, ok := readURL(raw)
		if !ok {
			return
		}
		if again, ok := readURL("mem:" + name); !ok || again != name {
			t.Errorf("%q is %q; written as %q it is %q", raw, name, "mem:"+name, again)
		}
	})
}

func readURL(raw string) (name string, ok bool) {
	u, err := driver.ParseURL(raw)
	if err != nil || u.Scheme != "mem" {
		return "", false
	}
	name, err = nameOf(u)
	return name, err == nil
}
