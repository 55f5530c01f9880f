-- Makes the tables of format 1, unless they were made before. Takes and returns nothing.
--
-- Names, owners and values are bytes. Times are microseconds since 1970 by the server's clock, and TTLs microseconds.
-- No index of claims has the deadline in it, which each renewal changes. InnoDB locks what is next to a row that breaks a
-- unique index, so there is none but the primary keys.
--
-- A claim that has its lock to itself is in the lock's row, and so is how the last of these ended: taking such a lock, and
-- releasing it, writes one row each time. Whoever has to wait first moves that claim to the queue; see spill. IDs come in series,
-- and whoever uses one of a series has done with all before it. So what was released last stands for all that its client has
-- released here before, and until barred only later ones of its series get the lock at once.
CREATE TABLE IF NOT EXISTS holdfast_locks ( -- a row for each lock, which is locked by whoever changes its queue
	name     VARBINARY(1024) NOT NULL PRIMARY KEY,
	token    BIGINT          NOT NULL, -- the greatest so far
	released BIGINT          NOT NULL, -- the token up to which claims were released, while some of them are still queued; else 0
	noted    BIGINT          NOT NULL DEFAULT 0, -- how many these are
	queued   TINYINT         NOT NULL DEFAULT 0, -- claims are queued, or were when a request looked last
	id       VARBINARY(64)   NOT NULL DEFAULT '', -- of the claim that has the lock to itself, under token; else empty
	weight   BIGINT          NOT NULL DEFAULT 0, -- of that claim, and what follows, as among those that are queued
	units    BIGINT          NOT NULL DEFAULT 0,
	ttl      BIGINT          NOT NULL DEFAULT 0,
	deadline BIGINT          NOT NULL DEFAULT 0,
	since    BIGINT          NOT NULL DEFAULT 0,
	owner    BLOB,
	value    MEDIUMBLOB,
	ended    VARBINARY(64)   NOT NULL DEFAULT '', -- the claim that was released last, while it had the lock to itself
	under    BIGINT          NOT NULL DEFAULT 0, -- its token
	barred   BIGINT          NOT NULL DEFAULT 0 -- until when late copies of the requests of all claims that ended are barred
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS holdfast_claims ( -- the queues: a row for each claim, waiting or granted, that shares its lock or has it with others behind it
	name     VARBINARY(1024) NOT NULL,
	id       VARBINARY(64)   NOT NULL,
	token    BIGINT          NOT NULL, -- place in the queue, and fencing token
	weight   BIGINT          NOT NULL,
	units    BIGINT          NOT NULL, -- the claim's limit
	ttl      BIGINT          NOT NULL,
	deadline BIGINT          NOT NULL,
	since    BIGINT          NOT NULL,
	granted  TINYINT         NOT NULL,
	revoked  TINYINT         NOT NULL,
	owner    BLOB            NOT NULL,
	value    MEDIUMBLOB      NOT NULL,
	detached TINYINT         NOT NULL DEFAULT 0, -- it was left alone
	PRIMARY KEY (name, id),
	KEY holdfast_claims_queue (name, granted, token)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS holdfast_ends ( -- claims that ended, while a late copy of their request may still arrive
	name     VARBINARY(1024) NOT NULL,
	id       VARBINARY(64)   NOT NULL,
	token    BIGINT          NOT NULL,
	released TINYINT         NOT NULL, -- by who asked for it; otherwise it expired, was broken, or was barred before it came
	deadline BIGINT          NOT NULL, -- of remembering
	PRIMARY KEY (name, id),
	KEY holdfast_ends_deadline (deadline)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS holdfast_values ( -- what locks keep between their holders
	name   VARBINARY(1024) NOT NULL PRIMARY KEY,
	token  BIGINT          NOT NULL, -- of the lease that set it
	set_at BIGINT          NOT NULL, -- by the clock of who did
	value  MEDIUMBLOB      NOT NULL  -- empty when it was removed
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS holdfast_sweep ( -- one row: how far sweeping has come, whoever does it
	id     TINYINT         NOT NULL PRIMARY KEY,
	next   BIGINT          NOT NULL, -- when somebody may go on
	locks  VARBINARY(1024) NOT NULL, -- the name of the lock after which to go on
	claims VARBINARY(1024) NOT NULL  -- and that of the claims
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

INSERT IGNORE INTO holdfast_sweep (id, next, locks, claims) VALUES (1, 0, '', '');

CREATE TABLE IF NOT EXISTS holdfast_store ( -- one row, and that last, so that nobody uses what is half made
	format INT NOT NULL PRIMARY KEY -- of the tables; the names of the routines begin with it
) ENGINE = InnoDB;

INSERT IGNORE INTO holdfast_store (format) VALUES (1);
