package advisory

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// A Driver is a client of the session locks of a database server. It is a [driver.Checker] and a [driver.Reaper].
type Driver struct {
	db      *sql.DB
	dialect *Dialect
	raw     bool // names are the server's own
	nature  nature
	keep    time.Duration
	closing sync.Once
	life    context.Context
	end     context.CancelCauseFunc // of life

	followers driver.Followers

	mu     sync.Mutex
	claims map[claimKey]*claim
}

// fewestConns is how many connections it takes to look for proxies, and to release what other sessions hold.
const fewestConns = 2

// New makes a driver on a database that the caller has opened, in which [Migrate] has made the tables. Tokens are
// kept for the duration keep after their lock's last use. If raw is true, names are the server's own: those of locks
// that other programs use, too.
func New(ctx context.Context, db *sql.DB, dialect *Dialect, raw bool, keep time.Duration) (driver.Driver, error) {
	if most := db.Stats().MaxOpenConnections; most > 0 && most < fewestConns {
		return nil, fmt.Errorf("each claim in session mode takes a connection, and this pool allows %d;"+
			" raise SetMaxOpenConns to the number of claims and %d more", most, fewestConns)
	}
	kind, err := dbms.Genuine(ctx, db)
	if err != nil {
		return nil, explain(err)
	}
	d := &Driver{
		db: db, dialect: dialect, raw: raw, nature: natures[kind], keep: keep, claims: make(map[claimKey]*claim),
	}
	d.life, d.end = context.WithCancelCause(context.Background())
	d.followers.Wait = d.wait
	if err := d.probe(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// Tables are the statements that make the tables where they are missing.
func (d *Dialect) Tables() []string { return server.Split(d.Text(scripts, "tables")) }

// Traits implements [driver.Driver].
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend: d.dialect.Name, MinTTL: d.nature.minTTL, MaxTTL: maxTTL, MaxName: 1024,
		Fenced: true, ServerClock: true, Ops: driver.KindsOf(driver.OpRequest, driver.OpRelease, driver.OpWatch),
	}
}

// Close implements [driver.Driver]. With it the sessions end, and so do their claims.
func (d *Driver) Close() error {
	d.closing.Do(func() {
		d.end(driver.ErrClosed) // first: whoever is at work on a claim stops, and lets go of it
		d.followers.Close()
		d.mu.Lock()
		claims := d.claims
		d.claims = nil
		d.mu.Unlock()
		for _, c := range claims {
			<-c.free // and nobody gets it again
			c.hangUp()
		}
	})
	return nil
}
