package boottime

import (
	"testing"
	"testing/synctest"
	"time"
)

// alarms are the kinds of alarm that this system has.
func alarms(t *testing.T) map[string]Alarm {
	as := map[string]Alarm{"ticking": newTicking()}
	if a := newKernelAlarm(); a != nil {
		as["the kernel's"] = a
	}
	for _, a := range as {
		t.Cleanup(a.Close)
	}
	return as
}

// An alarm goes off no earlier than set but for its ticks, and as often as it is set.
func TestAlarmGoesOff(t *testing.T) {
	for kind, a := range alarms(t) {
		t.Run(kind, func(t *testing.T) {
			for _, d := range []time.Duration{3 * time.Millisecond, 0, -time.Hour, 150 * time.Millisecond} {
				at := time.Now().Add(d)
				a.Set(d)
				for a.Wait(); time.Now().Before(at); a.Wait() {
				}
			}
		})
	}
}

// An alarm that is set anew while somebody waits for it wakes that one.
func TestAlarmIsSetSooner(t *testing.T) {
	for kind, a := range alarms(t) {
		t.Run(kind, func(t *testing.T) {
			a.Set(time.Hour)
			woken := make(chan struct{})
			soon := time.Now().Add(5 * time.Millisecond)
			go func() {
				defer close(woken)
				for a.Wait(); time.Now().Before(soon); a.Wait() {
				}
			}()
			a.Set(time.Until(soon))
			<-woken
		})
	}
}

// In a bubble the alarm keeps the bubble's time, and looks at every tick.
func TestAlarmInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewAlarm()
		defer a.Close()
		start := time.Now()
		a.Set(time.Hour)
		if a.Wait(); time.Since(start) != Tick {
			t.Errorf("looked after %v, want %v", time.Since(start), Tick)
		}
		a.Set(Tick / 3)
		if a.Wait(); time.Since(start) != Tick+Tick/3 {
			t.Errorf("went off after %v", time.Since(start)-Tick)
		}
	})
}
