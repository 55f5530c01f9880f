package claimstest

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/opened"
)

// A test has the server for itself while it runs, and leaves claims only on the lock that is named after it.
type test struct {
	name string
	run  func(*testing.T, Store)
}

// long leaves a test to make test-long: it is about great numbers, or repeats what the contract asks, and takes much of
// the processor.
func long(run func(*testing.T, Store)) func(*testing.T, Store) {
	return func(t *testing.T, s Store) {
		effort.Long(t)
		run(t, s)
	}
}

// empty are the tests that need an empty database.
var empty = []test{
	{"no tables", testNoTables},
	{"migrate together", testMigrateTogether},
}

// begin are those after them, some of which empty it again. Each can run alone.
var begin = []test{
	{"nothing stays", long(testNothingStays)},
	{"reap", testReap},
	{"sweep spares", testSweepSpares},
	{"reaped ends", testReapedEnds},
	{"many ends", long(testManyEnds)},
	{"names keep pace", long(testNamesKeepPace)},
	{"sweeping goes on", testSweepingGoesOn},
	{"forgotten in use", long(testForgottenInUse)},
	{"names", testNames},
	{"other format", testOtherFormat},
	{"many names", long(testManyNames)},
	{"many listed", long(testManyListed)},
	{"many queued", long(testManyQueued)},
	{"script", testScript},
	{"other revision", testOtherRevision},
	{"lost routines", long(testLostRoutines)},
	{"no rights", testNoRights},
	{"check", testCheck}, // it leaves unsafe settings
}

// use are the tests of what programs do with locks.
var use = []test{
	{"crowd", testCrowd},
	{"expired", testExpired},
	{"shorter and shorter", testShorterAndShorter},
	{"crowd of dead", long(testCrowdOfDead)},
	{"crowd of readers", long(testCrowdOfReaders)},
	{"deadlock", testDeadlock},
	{"own connection", testOwnConnection},
	{"client clock", testClientClock},
	{"clock set back", testClockSetBack},
	{"clock set back behind the expired", testClockSetBackBehindExpired},
	{"kept when the clock is set back", testKeptWhenTheClockIsSetBack},
	{"answer lost", testAnswerLost},
	{"cancelled", testCancelled},
	{"unsent", testUnsent},
	{"round trips", testRoundTrips},
	{"hand-offs", long(testHandOffs)},
	{"noted", testNoted},
	{"noted is not listed", testNotedIsNotListed},
	{"notes in a row", testNotesInARow},
	{"few are noted", long(testFewAreNoted)},
	{"noted ahead of the dead", testNotedAheadOfTheDead},
	{"release looks late", testReleaseLooksLate},
	{"connections", testConnections},
	{"connections at once", long(testConnectionsAtOnce)},
	{"few connections", testFewConnections},
	{"many waits", long(testManyWaits)},
	{"wait sleeps", testWaitSleeps},
	{"deleted by hand", testDeletedByHand},
	{"room in the pool", long(testRoomInThePool)},
	{"watched together", testWatchedTogether},
	{"wake-ups", testWakeUps},
	{"cascade", testCascade},
	{"older waits later", testOlderWaitsLater},
	{"granted between looks", testGrantedBetweenLooks},
	{"bulk apart", long(testBulkApart)},
	{"broken is told", testBrokenIsTold},
	{"release is told", testReleaseIsTold},
	{"broken waiter leaves no wake lock", testBrokenWaiterLeavesNoWakeLock},
	{"wake lock of a grant", testWakeLockOfAGrant},
	{"wake lock of one alone", testWakeLockOfOneAlone},
	{"detached leaves no wake lock", testDetachedLeavesNoWakeLock},
	{"log stays quiet", testLogStaysQuiet},
	{"nothing is slow", testNothingIsSlow},
	{"busy row", testBusyRow},
	{"busy rows of a note", testBusyRowsOfANote},
	{"busy rows of a note for many", long(testBusyRowsOfANoteForMany)},
	{"busy rows of a note for readers", testBusyRowsOfANoteForReaders},
	{"busy rows behind a note", testBusyRowsBehindANote},
	{"row that is locked for a moment", testRowLockedForAMoment},
	{"row that is locked while a holder expires", testRowLockedWhileAHolderExpires},
	{"undone by server", testUndoneByServer},
	{"read only", testReadOnly},
	{"busy rows among many", testBusyRowsAmongMany},
	{"renewals together", testRenewalsTogether},
	{"sweeping waits alone", testSweepingWaitsAlone},
	{"sessions killed", testSessionsKilled},
	{"dead flows", testDeadFlows},
	{"renewal beside requests", testRenewalBesideRequests},
	{"dead flow of a look", testDeadFlowOfALook},
	{"slow to connect", testSlowToConnect},
	{"slow look", testSlowLook},
	{"restart", testRestart},
	{"together", testTogether},
	{"busy row together", testBusyRowTogether},
	{"alone", testAlone},
	{"late copies", testLateCopies},
}

// soak are tests that take minutes.
var soak = []test{
	{"many names", testManyNamesSoak},
}

// Run runs all tests. start starts a server.
func Run(t *testing.T, start func(testing.TB) Store) {
	t.Run("contract", func(t *testing.T) {
		s := start(t).migrated(t)
		open := func(t testing.TB) driver.Driver { return s.client(t) }
		drivertest.Run(t, drivertest.Harness{Open: open, TTL: time.Second})
	})
	t.Run("begin", func(t *testing.T) {
		s := start(t)
		runAll(t, s, empty)
		runAll(t, s.migrated(t), begin)
	})
	if effort.IsSoak() {
		t.Run("contract after dead flows", func(t *testing.T) {
			s := start(t).migrated(t)
			open := func(t testing.TB) driver.Driver { return opened.DriverAfterDeadFlows(t, s.Addr, s.URL) }
			drivertest.Run(t, drivertest.Harness{Open: open, TTL: time.Second})
		})
		t.Run("soak", func(t *testing.T) { runAll(t, start(t).migrated(t), soak) })
	}
	t.Run("use", func(t *testing.T) { runAll(t, start(t).migrated(t), use) })
}

func runAll(t *testing.T, s Store, tests []test) {
	for _, one := range tests {
		t.Run(one.name, func(t *testing.T) { one.run(t, s) })
	}
}
