-- Creates the tables: one has the greatest token of each lock and its holder, the other the claims that wait or ended.
-- Times are microseconds since 1970, by the server's clock.
CREATE TABLE IF NOT EXISTS holdfast_sessions (
	name VARBINARY(1024) PRIMARY KEY,
	token BIGINT NOT NULL,
	id VARBINARY(64) NOT NULL,
	ttl BIGINT NOT NULL,
	session BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
CREATE TABLE IF NOT EXISTS holdfast_session_claims (
	name VARBINARY(1024) NOT NULL,
	id VARBINARY(64) NOT NULL,
	state CHAR(8) NOT NULL,
	token BIGINT NOT NULL,
	until BIGINT NOT NULL,
	PRIMARY KEY (name, id),
	KEY holdfast_session_claims_until (until)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
