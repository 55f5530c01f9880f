-- Makes the tables. Takes and returns nothing.
--
-- Names, owners and values are bytes. Deadlines are nanoseconds of the machine's clock since it booted; those of an
-- earlier boot have passed, so holdfast_store says which boot they belong to.
CREATE TABLE holdfast_store (
	format INTEGER NOT NULL, -- a program refuses tables of another format than its own
	boot   TEXT    NOT NULL, -- with the time namespace
	began  INTEGER NOT NULL, -- when the boot did, in microseconds of the wall clock; 0 where that is not known
	base   INTEGER NOT NULL, -- tokens are greater: it is the floor of the boot before
	floor  INTEGER NOT NULL  -- tokens that are greater are on the disk before anybody learns of them
);
INSERT INTO holdfast_store (format, boot, began, base, floor) VALUES (2, '', 0, 0, 0);

CREATE TABLE holdfast_claims ( -- the queues: a row for each claim, waiting or granted
	name     BLOB    NOT NULL,
	token    INTEGER NOT NULL, -- place in the queue, and fencing token
	id       TEXT    NOT NULL,
	weight   INTEGER NOT NULL,
	units    INTEGER NOT NULL, -- the claim's limit
	ttl      INTEGER NOT NULL, -- nanoseconds
	deadline INTEGER NOT NULL,
	since    INTEGER NOT NULL, -- microseconds of the wall clock, for people
	client   TEXT    NOT NULL, -- whose end is the claim's, unless it is detached
	detached INTEGER NOT NULL,
	granted  INTEGER NOT NULL,
	revoked  INTEGER NOT NULL DEFAULT 0, -- somebody asked its holder to release it
	owner    BLOB    NOT NULL,
	value    BLOB    NOT NULL,
	PRIMARY KEY (name, token)
) WITHOUT ROWID;
CREATE UNIQUE INDEX holdfast_claims_id ON holdfast_claims (name, id);
CREATE INDEX holdfast_claims_deadline ON holdfast_claims (deadline);

CREATE TABLE holdfast_fences ( -- the greatest token of each lock
	name  BLOB    NOT NULL PRIMARY KEY,
	token INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX holdfast_fences_token ON holdfast_fences (token);

CREATE TABLE holdfast_ends ( -- claims that ended, while a late copy of their request may still arrive
	name     BLOB    NOT NULL,
	id       TEXT    NOT NULL,
	token    INTEGER NOT NULL,
	released INTEGER NOT NULL, -- by who asked for it; otherwise it expired, was broken, or was barred before it came
	deadline INTEGER NOT NULL, -- of remembering
	PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE INDEX holdfast_ends_deadline ON holdfast_ends (deadline);

CREATE TABLE holdfast_values ( -- what locks keep between their holders
	name   BLOB    NOT NULL PRIMARY KEY,
	token  INTEGER NOT NULL, -- of the lease that set it
	set_at INTEGER NOT NULL, -- microseconds of the wall clock of who did
	text   BLOB    NOT NULL  -- empty when it was removed
) WITHOUT ROWID;
CREATE INDEX holdfast_values_removed ON holdfast_values (name) WHERE text = x'';
