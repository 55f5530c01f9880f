-- Makes the table of what ShedLock's has no column for: which of our claims wait, hold or have ended, so that requests
-- that are repeated or come late are told so. Times are microseconds since 1970, by the server's clock.
CREATE TABLE IF NOT EXISTS holdfast_guests (
	name BYTEA NOT NULL,
	id BYTEA NOT NULL,
	state TEXT NOT NULL,
	token BIGINT NOT NULL,
	ttl BIGINT NOT NULL,
	until BIGINT NOT NULL,
	since BIGINT NOT NULL,
	owner BYTEA NOT NULL,
	value BYTEA NOT NULL,
	PRIMARY KEY (name, id)
);
CREATE INDEX IF NOT EXISTS holdfast_guests_until ON holdfast_guests (until);
