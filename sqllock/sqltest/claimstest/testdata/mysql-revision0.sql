-- Makes the tables of format 1, unless they were made before. Takes and returns nothing.
--
-- Names, owners and values are bytes. Times are microseconds since 1970 by the server's clock, and TTLs microseconds.
-- InnoDB locks what is next to a row that breaks a unique index, so there is none but the primary keys.
CREATE TABLE IF NOT EXISTS holdfast_locks ( -- a row for each lock, which is locked by whoever changes its queue
	name     VARBINARY(1024) NOT NULL PRIMARY KEY,
	token    BIGINT          NOT NULL, -- the greatest so far
	released BIGINT          NOT NULL  -- the token up to which claims were released, while some of them are still here; else 0
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
-- next

CREATE TABLE IF NOT EXISTS holdfast_claims ( -- the queues: a row for each claim, waiting or granted
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
	PRIMARY KEY (name, id),
	KEY holdfast_claims_queue (name, granted, token),
	KEY holdfast_claims_deadline (deadline)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
-- next

CREATE TABLE IF NOT EXISTS holdfast_ends ( -- claims that ended, while a late copy of their request may still arrive
	name     VARBINARY(1024) NOT NULL,
	id       VARBINARY(64)   NOT NULL,
	token    BIGINT          NOT NULL,
	released TINYINT         NOT NULL, -- by who asked for it; otherwise it expired, was broken, or was barred before it came
	deadline BIGINT          NOT NULL, -- of remembering
	PRIMARY KEY (name, id),
	KEY holdfast_ends_deadline (deadline)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC
-- next
DROP PROCEDURE IF EXISTS holdfast1_finish
-- next
-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, token and TTL, whether
-- it was released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays.
CREATE PROCEDURE holdfast1_finish(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_released TINYINT, p_now BIGINT,
	p_most BIGINT
) SQL SECURITY INVOKER
BEGIN
	DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline <= p_most;
	IF ROW_COUNT() > 0 THEN
		REPLACE INTO holdfast_ends (name, id, token, released, deadline)
		VALUES (p_name, p_id, p_token, p_released, p_now + p_ttl);
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_grant
-- next
-- Grants what is grantable at the front of a queue, whose row is locked, and takes waiting claims that are dead out of it. It
-- reads no further than the first claim that has to wait. Takes name, now, the units that are granted, and the least limit
-- among those claims. Returns these anew and, where there is room for more, whether a claim waits.
CREATE PROCEDURE holdfast1_grant(
	p_name VARBINARY(1024), p_now BIGINT, INOUT o_sum BIGINT, INOUT o_limit BIGINT, OUT o_waits TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_ttl, v_weight, v_units, v_deadline BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	waiting: WHILE o_sum < o_limit DO
		SET v_id = NULL;
		SELECT id, token, ttl, weight, units, deadline INTO v_id, v_token, v_ttl, v_weight, v_units, v_deadline
		FROM holdfast_claims WHERE name = p_name AND granted = 0 ORDER BY token LIMIT 1;
		SET o_waits = v_id IS NOT NULL;
		IF v_id IS NULL THEN
			LEAVE waiting;
		END IF;
		IF v_deadline <= p_now THEN
			CALL holdfast1_finish(p_name, v_id, v_token, v_ttl, 0, p_now, p_now);
			ITERATE waiting;
		END IF;
		IF o_sum + v_weight > LEAST(o_limit, v_units) THEN
			LEAVE waiting;
		END IF;
		UPDATE holdfast_claims SET granted = 1 WHERE name = p_name AND id = v_id;
		SET o_sum = o_sum + v_weight;
		SET o_limit = LEAST(o_limit, v_units);
	END WHILE;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_settle
-- next
-- Makes the front of a queue, whose row is locked, what it should be: dead claims leave it, and what becomes grantable is
-- granted. Takes name and now. Returns the units that are granted, the least limit among those claims, and whether a claim
-- waits.
CREATE PROCEDURE holdfast1_settle(
	p_name VARBINARY(1024), p_now BIGINT, OUT o_sum BIGINT, OUT o_limit BIGINT, OUT o_waits TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_ttl, v_deadline BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	holding: LOOP
		SELECT COALESCE(SUM(weight), 0), COALESCE(MIN(units), 2147483647), MIN(deadline) INTO o_sum, o_limit, v_deadline
		FROM holdfast_claims WHERE name = p_name AND granted = 1;
		IF v_deadline IS NULL OR v_deadline > p_now THEN
			LEAVE holding;
		END IF;
		SELECT id, token, ttl INTO v_id, v_token, v_ttl FROM holdfast_claims
		WHERE name = p_name AND granted = 1 AND deadline <= p_now ORDER BY token LIMIT 1;
		CALL holdfast1_finish(p_name, v_id, v_token, v_ttl, 0, p_now, p_now);
	END LOOP;

	CALL holdfast1_grant(p_name, p_now, o_sum, o_limit, o_waits);
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_pass
-- next
-- Carries out releases that were only noted in the row of the lock, which is locked: takes these claims out of the queue, and
-- grants what is behind them. Takes the name and the token up to which claims were released.
CREATE PROCEDURE holdfast1_pass(p_name VARBINARY(1024), p_released BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_sum, v_limit BIGINT;
	DECLARE v_waits TINYINT;
	REPLACE INTO holdfast_ends (name, id, token, released, deadline)
	SELECT name, id, token, 1, v_now + ttl FROM holdfast_claims
	WHERE name = p_name AND granted IN (0, 1) AND token <= p_released;
	DELETE FROM holdfast_claims WHERE name = p_name AND granted IN (0, 1) AND token <= p_released;
	UPDATE holdfast_locks SET released = 0 WHERE name = p_name;
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_enter
-- next
-- Begins a transaction that changes a queue, and locks the row of the lock, so that one does so at a time. A row that is
-- missing is made before, by itself: two that make it in longer transactions would wait for each other. What others have
-- committed must be seen, whatever the session's level: a proxy may have dropped that. A release that was only noted is
-- carried out first. Takes the name.
CREATE PROCEDURE holdfast1_enter(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_released BIGINT DEFAULT NULL;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SELECT released INTO v_released FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	WHILE v_released IS NULL DO
		ROLLBACK;
		INSERT IGNORE INTO holdfast_locks (name, token, released) VALUES (p_name, 0, 0);
		SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
		START TRANSACTION;
		SELECT released INTO v_released FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	END WHILE;
	IF v_released > 0 THEN
		CALL holdfast1_pass(p_name, v_released);
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_state
-- next
-- Answers about a claim that is in its queue. Takes name, token, granted, TTL, revoked, and now. Returns an answer (0),
-- token, granted, TTL, when the claim that blocks it expires if it is the next in line and else 0, whether others wait behind
-- it, and revoked. Subqueries cost time even where they are not needed, so each case has a statement of its own.
CREATE PROCEDURE holdfast1_state(
	p_name VARBINARY(1024), p_token BIGINT, p_granted TINYINT, p_ttl BIGINT, p_revoked TINYINT, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	IF p_granted THEN
		SELECT 0, p_token, 1, p_ttl, 0, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted IN (0, 1) AND token > p_token AND deadline > p_now
		), p_revoked;
	ELSE
		SELECT 0, p_token, 0, p_ttl, CASE WHEN EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token < p_token AND deadline > p_now
		) THEN 0 ELSE GREATEST(1, COALESCE((
			SELECT MIN(deadline) FROM holdfast_claims WHERE name = p_name AND granted = 1
		), 0) - p_now) END, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > p_token AND deadline > p_now
		), p_revoked;
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_hang
-- next
-- Hangs up the bells of a claim: locks that the session of its client holds, so that others can wait until they are let
-- go. One that hangs already stays as it is: taken twice, it would have to be let go twice. Takes ID, and whether the claim
-- waits and may share its lock, so that its grant concerns others, too.
CREATE PROCEDURE holdfast1_hang(p_id VARBINARY(64), p_shares TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_bell VARCHAR(64) DEFAULT CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', p_id), 256), 40));
	IF IS_USED_LOCK(CONCAT(v_bell, ':end')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':end'), 0);
	END IF;
	IF p_shares AND IS_USED_LOCK(CONCAT(v_bell, ':wait')) IS NULL THEN
		DO GET_LOCK(CONCAT(v_bell, ':wait'), 0);
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_withdraw
-- next
-- Takes a claim out of its queue, whatever it has and whoever shares it, and rings its bells. Where nobody was queued behind
-- it, that grants nothing. Takes and returns what release does.
CREATE PROCEDURE holdfast1_withdraw(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_bells TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_behind, v_released, v_waits TINYINT DEFAULT NULL;
	DECLARE v_answer INT DEFAULT 1;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT c.token, c.ttl, c.deadline, l.token > c.token INTO v_token, v_ttl, v_deadline, v_behind
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.id = p_id FOR UPDATE;
	IF v_token IS NULL THEN
		SELECT token, released INTO v_token, v_released FROM holdfast_ends
		WHERE name = p_name AND id = p_id AND deadline > v_now;
		IF v_released AND p_token IN (0, v_token) THEN
			SET v_answer = 0;
		ELSEIF v_released IS NULL AND p_token = 0 THEN
			REPLACE INTO holdfast_ends (name, id, token, released, deadline) VALUES (p_name, p_id, 0, 0, v_now + p_ttl);
		END IF;
	ELSEIF v_deadline <= v_now THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_now);
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	ELSEIF p_token IN (0, v_token) THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 1, v_now, v_deadline);
		IF v_behind THEN
			CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		END IF;
		SET v_answer = 0;
	END IF;
	COMMIT;
	IF p_bells > 0 THEN -- after others can see what has changed
		CALL holdfast1_ring(p_id, 'end');
	END IF;
	IF p_bells > 1 THEN
		CALL holdfast1_ring(p_id, 'wait');
	END IF;
	IF v_answer > 0 THEN
		SELECT v_answer;
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_ring
-- next
-- Lets go of a bell of this session. Takes the claim's ID and which bell.
CREATE PROCEDURE holdfast1_ring(p_id VARBINARY(64), p_which VARCHAR(4)) SQL SECURITY INVOKER
BEGIN
	DO RELEASE_LOCK(CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', p_id), 256), 40), ':', p_which));
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_request
-- next
-- Queues a claim, or renews it when it is queued. Takes the claim, whether it stays in the queue when it has to wait, and
-- whether to hang up its bells. Returns an answer (0 the state follows, 1 gone, 2 not queued) and the state.
CREATE PROCEDURE holdfast1_request(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_weight BIGINT, p_units BIGINT, p_ttl BIGINT,
	p_stay TINYINT, p_owner BLOB, p_value MEDIUMBLOB, p_bells TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_ended, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits, v_granted TINYINT;
	DECLARE v_revoked TINYINT DEFAULT 0;
	DECLARE v_new TINYINT DEFAULT 0; -- nobody is behind a claim that is new
	DECLARE v_answer INT DEFAULT 0;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT token, ttl, deadline INTO v_token, v_ttl, v_deadline
	FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF v_token IS NOT NULL AND v_deadline <= v_now THEN
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_now);
		SET v_answer = 1;
	ELSEIF v_token IS NOT NULL AND p_token NOT IN (0, v_token) THEN
		SET v_answer = 1;
	ELSEIF v_token IS NOT NULL THEN
		UPDATE holdfast_claims SET ttl = p_ttl, deadline = v_now + p_ttl WHERE name = p_name AND id = p_id;
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		SELECT granted, revoked INTO v_granted, v_revoked FROM holdfast_claims WHERE name = p_name AND id = p_id;
	ELSE
		SELECT deadline INTO v_ended FROM holdfast_ends WHERE name = p_name AND id = p_id AND deadline > v_now;
		IF p_token <> 0 OR v_ended IS NOT NULL THEN
			SET v_answer = 1;
		ELSE
			CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
			SET v_granted = NOT v_waits AND v_sum + p_weight <= LEAST(v_limit, p_units);
			IF v_granted OR p_stay THEN
				UPDATE holdfast_locks SET token = LAST_INSERT_ID(GREATEST(token + 1, v_now)) WHERE name = p_name;
				SET v_token = LAST_INSERT_ID(), v_new = 1;
				INSERT INTO holdfast_claims
					(name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)
				VALUES
					(p_name, p_id, v_token, p_weight, p_units, p_ttl, v_now + p_ttl, v_now, v_granted, 0, p_owner, p_value);
			ELSE
				SET v_answer = 2;
			END IF;
		END IF;
	END IF;

	IF v_answer > 0 THEN
		COMMIT;
		SELECT v_answer, 0, 0, 0, 0, 0, 0;
	ELSE
		IF p_bells THEN -- before others can see the claim
			CALL holdfast1_hang(p_id, NOT v_granted AND p_weight < p_units);
		END IF;
		IF v_new AND v_granted THEN
			COMMIT;
			SELECT 0, v_token, 1, p_ttl, 0, 0, 0;
		ELSE
			CALL holdfast1_state(p_name, v_token, v_granted, p_ttl, v_revoked, v_now);
			COMMIT;
		END IF;
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_release
-- next
-- Releases a claim. Where it has its lock to itself, and another was queued behind it, that is only noted in the row of the
-- lock: from then on it has ended, and the next one has the lock, though its row does not say so yet. Whoever enters the
-- queue next carries that out. The clock may be read before the row is locked: the claim is over either way. Any other claim
-- goes the longer way, withdraw. Takes name, ID, token or 0, TTL, and how many bells it has in this session: the first is for
-- its end, the second for its grant. Returns nothing, or 1 when it had ended otherwise.
CREATE PROCEDURE holdfast1_release(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_bells TINYINT
) SQL SECURITY INVOKER
BEGIN
	UPDATE holdfast_locks l STRAIGHT_JOIN holdfast_claims c SET l.released = p_token
	WHERE l.name = p_name AND l.token > p_token AND l.released < p_token
		AND c.name = p_name AND c.id = p_id AND c.token = p_token AND c.weight = c.units
		AND c.deadline > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
		AND (c.granted OR l.released > 0 AND NOT EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > l.released AND token < p_token
		));
	IF ROW_COUNT() = 0 THEN
		CALL holdfast1_withdraw(p_name, p_id, p_token, p_ttl, p_bells);
	ELSEIF p_bells > 0 THEN
		CALL holdfast1_ring(p_id, 'end');
	END IF;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_renew
-- next
-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, and 1 to hang up the
-- claim's bells, with spaces between them and sorted by name and token, and whether to renew. Returns for each line an
-- answer (0 the state follows, 1 gone) and the state.
CREATE PROCEDURE holdfast1_renew(p_claims LONGTEXT CHARACTER SET ascii, p_extend TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_ttl, v_now, v_found BIGINT;
	DECLARE v_granted, v_shares, v_revoked TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	WHILE p_claims <> '' DO
		SET v_line = SUBSTRING_INDEX(p_claims, '\n', 1);
		SET p_claims = SUBSTRING(p_claims, LENGTH(v_line) + 2);
		SET v_name = UNHEX(SUBSTRING_INDEX(v_line, ' ', 1));
		SET v_id = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 2), ' ', -1);
		SET v_token = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 3), ' ', -1);
		SET v_ttl = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 4), ' ', -1);
		IF EXISTS (SELECT 1 FROM holdfast_locks WHERE name = v_name AND released > 0) THEN
			COMMIT; -- so that nobody waits for what was done so far
			CALL holdfast1_enter(v_name);
		END IF;
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
		IF p_extend THEN
			UPDATE holdfast_claims SET ttl = v_ttl, deadline = v_now + v_ttl
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
		END IF;
		SET v_found = NULL;
		SELECT token, granted, granted = 0 AND weight < units, ttl, revoked
		INTO v_found, v_granted, v_shares, v_ttl, v_revoked FROM holdfast_claims
		WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
		IF v_found IS NULL THEN
			SELECT 1, 0, 0, 0, 0, 0, 0;
		ELSE
			IF SUBSTRING_INDEX(v_line, ' ', -1) = '1' THEN
				CALL holdfast1_hang(v_id, v_shares);
			END IF;
			CALL holdfast1_state(v_name, v_found, v_granted, v_ttl, v_revoked, v_now);
		END IF;
	END WHILE;
	COMMIT;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_wait
-- next
-- Waits until a claim is granted or has ended, or until it is time to ask again. While one claim alone decides that, this
-- sleeps until that claim's bell rings, and looks now and then nevertheless: the next in line every second, others every
-- five. Takes name, ID, how long to wait, and whether there are bells. Returns an answer (0 the state follows, 1 gone, 2 ask
-- again, 3 nothing new) and the state. Of a claim that is granted it says that others wait if any was queued behind it.
CREATE PROCEDURE holdfast1_wait(p_name VARBINARY(1024), p_id VARBINARY(64), p_limit BIGINT, p_bells TINYINT)
SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_now, v_end, v_token, v_weight, v_units, v_ttl, v_noted, v_ahead, v_other_token, v_other_weight, v_other_units,
		v_holders, v_until, v_pause BIGINT; -- ahead is the token of the claim right ahead
	DECLARE v_granted, v_behind, v_revoked TINYINT;
	DECLARE v_other VARBINARY(64);
	DECLARE v_bell, v_rung VARCHAR(64) DEFAULT ''; -- rung is a bell that nobody holds, though the claim is there
	DECLARE v_answer INT DEFAULT 3;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SET v_end = v_now + p_limit;
	waiting: LOOP
		SET v_token = NULL;
		SELECT c.token, c.granted OR l.released <=> v_ahead, l.token > c.token, c.weight, c.units, c.ttl, c.revoked, l.released
		INTO v_token, v_granted, v_behind, v_weight, v_units, v_ttl, v_revoked, v_noted
		FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
		WHERE l.name = p_name AND c.name = p_name AND c.id = p_id AND c.deadline > v_now;
		IF v_token IS NULL THEN
			SET v_answer = 1;
			LEAVE waiting;
		ELSEIF v_granted THEN
			SELECT 0, v_token, 1, v_ttl, 0, v_behind, v_revoked;
			LEAVE whole;
		ELSEIF v_noted > 0 AND (v_rung <> '' OR v_now >= v_end) THEN -- it may be granted by who carries that release out
			SET v_answer = 2;
			LEAVE waiting;
		ELSEIF v_now >= v_end THEN
			LEAVE waiting;
		END IF;

		SET v_pause = 5000000, v_other = NULL;
		SELECT id, token, weight, units, deadline INTO v_other, v_other_token, v_other_weight, v_other_units, v_until
		FROM holdfast_claims
		WHERE name = p_name AND granted = 0 AND token < v_token AND deadline > v_now ORDER BY token DESC LIMIT 1;
		IF v_other IS NOT NULL AND v_other_weight < v_other_units THEN -- its grant may be this claim's, too
			SET v_bell = ':wait';
		ELSEIF v_other IS NOT NULL THEN
			SET v_bell = ':end';
		ELSE
			SELECT COUNT(*), MIN(deadline), MAX(id), MAX(token) INTO v_holders, v_until, v_other, v_other_token
			FROM holdfast_claims WHERE name = p_name AND granted = 1 AND token < v_token;
			IF v_holders = 0 OR v_until <= v_now THEN
				SELECT granted INTO v_granted FROM holdfast_claims WHERE name = p_name AND id = p_id;
				IF v_granted THEN -- a moment ago
					ITERATE waiting;
				END IF;
				SET v_answer = 2; -- it will be when somebody asks
				LEAVE waiting;
			END IF;
			SET v_bell = IF(v_holders > 1 AND v_weight < v_units, '', ':end'); -- any of several may make room
			SET v_pause = 1000000;
		END IF;
		SET v_ahead = IF(EXISTS ( -- one that has expired, too: it is granted first, if the clock is set back
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > v_other_token AND token < v_token
		), NULL, v_other_token);
		SET v_pause = LEAST(v_pause, v_until - v_now, v_end - v_now);
		IF v_bell <> '' THEN
			SET v_bell = CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', v_other), 256), 40), v_bell);
		END IF;

		IF p_bells AND v_bell NOT IN ('', v_rung) THEN
			SET v_rung = '';
			IF GET_LOCK(v_bell, CEIL(v_pause / 1000000)) AND RELEASE_LOCK(v_bell) THEN
				SET v_rung = v_bell;
			END IF;
		ELSE
			DO SLEEP(LEAST(v_pause, 20000) / 1000000);
			SET v_rung = '';
		END IF;
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	END LOOP;

	SELECT v_answer, 0, 0, 0, 0, 0, 0;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_break
-- next
-- Ends a claim by force. Takes name and ID. Returns 0, or 1 when there is no such claim.
CREATE PROCEDURE holdfast1_break(p_name VARBINARY(1024), p_id VARBINARY(64)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT token, ttl, deadline INTO v_token, v_ttl, v_deadline
	FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF v_deadline IS NOT NULL THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_deadline);
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	END IF;
	COMMIT;
	SELECT IF(v_deadline > v_now, 0, 1);
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_revoke
-- next
-- Asks a holder to let go. Takes name and ID. Returns 0, or 1 when there is no such claim or it is not granted.
CREATE PROCEDURE holdfast1_revoke(p_name VARBINARY(1024), p_id VARBINARY(64)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	SELECT deadline INTO v_deadline FROM holdfast_claims
	WHERE name = p_name AND id = p_id AND granted = 1 AND deadline > v_now FOR UPDATE;
	IF v_deadline IS NOT NULL THEN
		UPDATE holdfast_claims SET revoked = 1 WHERE name = p_name AND id = p_id;
	END IF;
	COMMIT;
	SELECT v_deadline IS NULL;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_queue
-- next
-- Reads a queue, oldest first. Takes the name, returns the live claims and for how long each lives.
CREATE PROCEDURE holdfast1_queue(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT c.id, c.token, c.weight, c.units, c.ttl, c.deadline - v_now, c.since, c.owner, c.value
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > v_now ORDER BY c.token;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_names
-- next
-- Lists locks with live claims. Takes a prefix of their names, returns names.
CREATE PROCEDURE holdfast1_names(p_prefix VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT DISTINCT c.name FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name
	WHERE c.name >= p_prefix AND SUBSTRING(c.name, 1, LENGTH(p_prefix)) = p_prefix
		AND c.token > l.released AND c.deadline > v_now;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_digest
-- next
-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE PROCEDURE holdfast1_digest(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*), COALESCE(MAX(c.token), 0), CAST(COALESCE(SUM(c.granted + 2 * c.revoked), 0) AS SIGNED)
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > v_now;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_stale
-- next
-- Finds locks with claims that have expired. Takes how many, returns a name for each of the claims.
CREATE PROCEDURE holdfast1_stale(p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT name FROM holdfast_claims WHERE deadline <= v_now ORDER BY deadline LIMIT p_most;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_tidy
-- next
-- Takes all dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, returns how many
-- had expired: not those of releases that were only noted.
CREATE PROCEDURE holdfast1_tidy(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_expired, v_token, v_ttl, v_sum, v_limit BIGINT;
	DECLARE v_waits TINYINT;
	DECLARE v_id VARBINARY(64);
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*) INTO v_expired FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name
	WHERE c.name = p_name AND c.deadline <= v_now AND c.token > l.released;
	CALL holdfast1_enter(p_name);
	dead: LOOP
		SET v_id = NULL;
		SELECT id, token, ttl INTO v_id, v_token, v_ttl
		FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token LIMIT 1;
		IF v_id IS NULL THEN
			LEAVE dead;
		END IF;
		CALL holdfast1_finish(p_name, v_id, v_token, v_ttl, 0, v_now, v_now);
	END LOOP;
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	COMMIT;
	SELECT v_expired;
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_forget
-- next
-- Forgets claims that ended long enough ago. Takes how many, returns how many it were.
CREATE PROCEDURE holdfast1_forget(p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DELETE FROM holdfast_ends WHERE deadline <= v_now ORDER BY deadline LIMIT p_most;
	SELECT ROW_COUNT();
END
-- next
DROP PROCEDURE IF EXISTS holdfast1_retire
-- next
-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes for how long in
-- microseconds, and how many at most; returns their names.
CREATE PROCEDURE holdfast1_retire(p_keep BIGINT, p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_least BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - p_keep;
	DECLARE v_count BIGINT DEFAULT 0;
	DECLARE v_name, v_last VARBINARY(1024) DEFAULT '';
	DECLARE v_token BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	unused: LOOP
		SET v_name = NULL;
		SELECT name INTO v_name FROM holdfast_locks l
		WHERE name > v_last AND token < v_least
			AND NOT EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = l.name)
		ORDER BY name LIMIT 1;
		IF v_name IS NULL OR v_count >= p_most THEN
			LEAVE unused;
		END IF;
		CALL holdfast1_enter(v_name); -- from here on nobody queues a claim
		DELETE FROM holdfast_locks WHERE name = v_name AND token < v_least;
		IF ROW_COUNT() > 0 THEN
			SET v_count = v_count + 1;
			SELECT v_name;
		END IF;
		COMMIT;
		SET v_last = v_name;
	END LOOP;
END
-- next
-- Says which format the tables and routines have, once all are there. Takes and returns nothing.
CREATE TABLE IF NOT EXISTS holdfast_store (
	format INT NOT NULL -- of the tables and of the routines, whose names begin with it
) ENGINE = InnoDB
-- next
DELETE FROM holdfast_store
-- next
INSERT INTO holdfast_store (format) VALUES (1)
