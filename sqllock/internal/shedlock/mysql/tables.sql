-- Makes the table of what ShedLock's has no column for: which of our claims wait, hold or have ended, so that requests
-- that are repeated or come late are told so. Times are microseconds since 1970, by the server's clock.
CREATE TABLE IF NOT EXISTS holdfast_guests (
	name VARBINARY(512) NOT NULL,
	id VARBINARY(64) NOT NULL,
	state CHAR(8) NOT NULL,
	token BIGINT NOT NULL,
	ttl BIGINT NOT NULL,
	until BIGINT NOT NULL,
	since BIGINT NOT NULL,
	owner BLOB NOT NULL,
	value MEDIUMBLOB NOT NULL,
	PRIMARY KEY (name, id),
	KEY holdfast_guests_until (until)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;
