-- Makes the tables. Format 1, which PRAGMA user_version says. Takes nothing.
--
-- Deadlines are nanoseconds on the machine's clock since boot, which setting the wall clock does not change, together
-- with the boot that they count from: after another boot they have passed.
CREATE TABLE holdfast_claims (  -- the queues: one row for each claim, waiting or granted
	name     BLOB    NOT NULL,
	token    INTEGER NOT NULL, -- place in the queue, and fencing token
	id       TEXT    NOT NULL,
	weight   INTEGER NOT NULL,
	units    INTEGER NOT NULL, -- the claim's limit
	ttl      INTEGER NOT NULL, -- nanoseconds
	boot     TEXT    NOT NULL,
	deadline INTEGER NOT NULL,
	since    INTEGER NOT NULL, -- microseconds of wall clock, for people
	client   TEXT    NOT NULL, -- whose file says that it lives
	detached INTEGER NOT NULL, -- it may live without its client
	granted  INTEGER NOT NULL,
	revoked  INTEGER NOT NULL,
	owner    BLOB    NOT NULL,
	value    BLOB    NOT NULL,
	PRIMARY KEY (name, token)
) WITHOUT ROWID;
CREATE UNIQUE INDEX holdfast_claims_id ON holdfast_claims (name, id);
CREATE TABLE holdfast_fences (  -- the greatest token of each lock
	name  BLOB    NOT NULL PRIMARY KEY,
	token INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX holdfast_fences_token ON holdfast_fences (token);
CREATE TABLE holdfast_ended (   -- claims that ended, for as long as a late copy of their requests may arrive
	name     BLOB    NOT NULL,
	id       TEXT    NOT NULL,
	token    INTEGER NOT NULL, -- that it had; 0 when it never was queued
	released INTEGER NOT NULL, -- by its owner; otherwise it expired, was broken, or was barred before it came
	boot     TEXT    NOT NULL,
	until    INTEGER NOT NULL,
	PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE INDEX holdfast_ended_until ON holdfast_ended (until);
