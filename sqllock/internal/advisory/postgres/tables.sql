-- Creates the tables: one has the greatest token of each lock and its holder, the other the claims that wait or ended.
-- Times are microseconds since 1970, by the server's clock.
CREATE TABLE IF NOT EXISTS holdfast_sessions (
	name BYTEA PRIMARY KEY,
	token BIGINT NOT NULL,
	id BYTEA NOT NULL,
	ttl BIGINT NOT NULL,
	session BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS holdfast_session_claims (
	name BYTEA NOT NULL,
	id BYTEA NOT NULL,
	state TEXT NOT NULL,
	token BIGINT NOT NULL,
	until BIGINT NOT NULL,
	PRIMARY KEY (name, id)
);
CREATE INDEX IF NOT EXISTS holdfast_session_claims_until ON holdfast_session_claims (until);
