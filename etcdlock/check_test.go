package etcdlock

import "testing"

func TestVersionsThatRevokeLate(t *testing.T) {
	t.Parallel()
	for version, late := range map[string]bool{
		"3.3.27": true, "3.4.30": true, "3.4.31": false, "3.5.0": true, "3.5.12": true, "3.5.13": false, "3.6.0": false,
		"3.5.12-rc.1": true, "4.0.0": false, "2.3.8": false, "3.4": false, "": false,
	} {
		if got := revokesLate(version); got != late {
			t.Errorf("%q: %v, want %v", version, got, late)
		}
	}
}
