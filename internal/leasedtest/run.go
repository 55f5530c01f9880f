package leasedtest

import "testing"

// Run runs the tests that need nothing of an engine but what an [Engine] says, each as a part of this one.
func Run(t *testing.T, e Engine) {
	for name, test := range map[string]func(*testing.T, Engine){
		"LeaderCrash":            LeaderCrash,
		"HolderKnowsFirst":       HolderKnowsFirst,
		"WaiterDiesInTheMiddle":  WaiterDiesInTheMiddle,
		"UnrenewedBesideRenewed": UnrenewedBesideRenewed,
		"Turns":                  Turns,
		"OtherVersion":           OtherVersion,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}
