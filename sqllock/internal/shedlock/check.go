package shedlock

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// Check implements [driver.Checker].
func (d *Driver) Check(ctx context.Context, brief bool) (findings []driver.Finding, err error) {
	if brief {
		return nil, nil
	}
	err = d.with(ctx, func(conn conn) (err error) {
		findings, err = health.Look(ctx, conn, d.dialect.facts)
		return err
	})
	return findings, err
}

var mysqlFacts = slices.Concat(health.MySQL, []health.Fact{
	{
		Name: "the session's time zone beside the server's",
		Query: "SELECT IF(@@SESSION.time_zone = @@GLOBAL.time_zone, 'the same'," +
			" CONCAT(@@SESSION.time_zone, ', not ', @@GLOBAL.time_zone))",
		Good: health.Is("the same"), Level: driver.Unsafe,
		Advice: "let sessions of programs with ShedLock and with Holdfast have one time zone: a TIMESTAMP that is" +
			" written in one is another time in the other, so that locks end hours early or late;" +
			" leave time_zone out of the data source name",
	},
	{
		Name: "the session's time less that of UTC", Query: "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW())",
		Good: health.Is("0"), Level: driver.Warning,
		Advice: "while all programs with these locks are stopped, because it moves the times that are in the table," +
			" set the server's time_zone to '+00:00': ShedLock's columns take the time of UTC for that of the" +
			" session's zone, in which an hour is missing when summer time begins; and let programs with ShedLock" +
			" use .usingDbTime(), because their own clocks would mean other times",
	},
})

var _ driver.Checker = (*Driver)(nil)
