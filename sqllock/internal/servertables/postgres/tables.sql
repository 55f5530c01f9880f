-- Makes the tables of format 1, unless they were made before. Takes and returns nothing.
--
-- Names, owners and values are bytes. Times are microseconds since 1970 by the server's clock, and TTLs microseconds. No index
-- of claims has the deadline in it, and pages are half empty, so that a renewal writes no index: it is a HOT update. Dead rows
-- are many beside live ones, and vacuumed soon.
--
-- Of the two indexes of claims, the primary key finds one by its ID, and the other the front of a queue. A plan that was made for
-- a table of three rows is used when there are thousands, or thousands of dead ones beside them; and for three rows the planner
-- finds either index as good as the other. So no question can be answered by the wrong one: the other index has name || '', which
-- is the name and not the column, and what asks for a queue says so; what asks for an ID has no condition on granted or token
-- that an index could serve. For the same reason what asks for an end by its ID compares no bare deadline.
--
-- A claim that has its lock to itself is in the lock's row, and so is how the last of these ended: taking such a lock, and
-- releasing it, writes one row each time, which is a HOT update, and no index. Whoever has to wait first moves that claim to the
-- queue; see spill. IDs come in series, and whoever uses one of a series has done with all before it. So what was released last
-- stands for all that its client has released here before, and until barred only later ones of its series get the lock at once.
CREATE TABLE IF NOT EXISTS holdfast_locks ( -- a row for each lock, which is locked by whoever changes its queue
	name     bytea   NOT NULL PRIMARY KEY,
	token    bigint  NOT NULL, -- the greatest so far
	released bigint  NOT NULL, -- the token up to which claims were released, while some of them are still queued; else 0
	head     bigint  NOT NULL DEFAULT 0, -- no claim is queued with a lesser token: from it on there are few dead rows
	noted    bigint  NOT NULL DEFAULT 0, -- how many claims were released and are still queued
	queued   boolean NOT NULL DEFAULT false, -- claims are queued, or were when a request looked last
	id       text    NOT NULL DEFAULT '' COLLATE "C", -- of the claim that has the lock to itself, under token; else empty
	weight   bigint  NOT NULL DEFAULT 0, -- of that claim, and what follows, as among those that are queued
	units    bigint  NOT NULL DEFAULT 0,
	ttl      bigint  NOT NULL DEFAULT 0,
	deadline bigint  NOT NULL DEFAULT 0,
	since    bigint  NOT NULL DEFAULT 0,
	owner    bytea   NOT NULL DEFAULT '',
	value    bytea   NOT NULL DEFAULT '',
	ended    text    NOT NULL DEFAULT '' COLLATE "C", -- the claim that was released last, while it had the lock to itself
	under    bigint  NOT NULL DEFAULT 0, -- its token
	barred   bigint  NOT NULL DEFAULT 0 -- until when late copies of the requests of all claims that ended are barred
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01,
	autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE IF NOT EXISTS holdfast_claims ( -- the queues: a row for each claim, waiting or granted, that shares its lock or has it with others behind it
	name     bytea   NOT NULL,
	id       text    NOT NULL COLLATE "C",
	token    bigint  NOT NULL, -- place in the queue, and fencing token
	weight   bigint  NOT NULL,
	units    bigint  NOT NULL, -- the claim's limit
	ttl      bigint  NOT NULL,
	deadline bigint  NOT NULL,
	since    bigint  NOT NULL,
	granted  boolean NOT NULL,
	revoked  boolean NOT NULL,
	owner    bytea   NOT NULL,
	value    bytea   NOT NULL,
	detached boolean NOT NULL DEFAULT false, -- it was left alone
	PRIMARY KEY (name, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01,
	autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX IF NOT EXISTS holdfast_claims_order ON holdfast_claims ((name || ''), granted, token);

CREATE TABLE IF NOT EXISTS holdfast_ends ( -- claims that ended, while a late copy of their request may still arrive
	name     bytea   NOT NULL,
	id       text    NOT NULL COLLATE "C",
	token    bigint  NOT NULL,
	released boolean NOT NULL, -- by who asked for it; otherwise it expired, was broken, or was barred before it came
	deadline bigint  NOT NULL, -- of remembering
	PRIMARY KEY (name, id)
) WITH (
	autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX IF NOT EXISTS holdfast_ends_deadline ON holdfast_ends (deadline);

CREATE TABLE IF NOT EXISTS holdfast_values ( -- what locks keep between their holders
	name   bytea  NOT NULL PRIMARY KEY,
	token  bigint NOT NULL, -- of the lease that set it
	set_at bigint NOT NULL, -- by the clock of who did
	value  bytea  NOT NULL  -- empty when it was removed
);

CREATE TABLE IF NOT EXISTS holdfast_sweep ( -- one row: how far sweeping has come, whoever does it
	id     smallint NOT NULL PRIMARY KEY,
	next   bigint   NOT NULL, -- when somebody may go on
	locks  bytea    NOT NULL, -- the name of the lock after which to go on
	claims bytea    NOT NULL  -- and that of the claims
);

INSERT INTO holdfast_sweep (id, next, locks, claims) VALUES (1, 0, '', '') ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS holdfast_store ( -- one row
	format integer NOT NULL PRIMARY KEY -- of the tables; the names of the routines begin with it
);

INSERT INTO holdfast_store (format) VALUES (1) ON CONFLICT DO NOTHING;
