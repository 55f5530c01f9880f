-- Queues a claim, or renews it when it is queued. Takes the claim, its TTL being negative if it is left alone, whether it
-- stays in the queue when it has to wait, whether to hang up its bells (0 no, 1 unless it has the lock to itself, 2 always), and
-- between what the IDs of its series are; for an ID of none that is the ID, twice. Returns an answer (0 the state follows, 1 gone,
-- 2 not queued, 4 it has the lock to itself: the state follows, 5 the same, though the lock had no row or one to be put in order)
-- and the state. Where there are too many dead claims ahead for one call, retry is a microsecond: the next call goes on.
CREATE PROCEDURE holdfast1_request(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_weight BIGINT, p_units BIGINT, p_ttl BIGINT,
	p_stay TINYINT, p_owner BLOB, p_value MEDIUMBLOB, p_bells TINYINT,
	p_before VARBINARY(64), p_last VARBINARY(64)
) SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_ended, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits, v_granted, v_left TINYINT;
	DECLARE v_alone TINYINT DEFAULT p_ttl < 0;
	DECLARE v_revoked TINYINT DEFAULT 0;
	DECLARE v_new TINYINT DEFAULT 0; -- nobody is behind a claim that is new
	DECLARE v_more TINYINT DEFAULT 0; -- settling took more than one call
	DECLARE v_answer INT DEFAULT 0;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	IF p_token = 0 AND NOT v_alone THEN
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
		UPDATE holdfast_locks SET token = LAST_INSERT_ID(GREATEST(token + 1, v_now)), weight = p_weight, units = p_units, ttl = p_ttl,
			deadline = v_now + p_ttl, since = v_now, owner = p_owner, value = p_value, id = p_id
		WHERE name = p_name AND id = '' AND NOT queued AND released = 0
			AND (barred <= v_now OR ended > p_before AND ended < p_id);
		IF ROW_COUNT() > 0 THEN
			SET v_token = LAST_INSERT_ID();
			IF p_bells > 1 THEN
				CALL holdfast1_hang(p_id, 0);
			END IF;
			SELECT 4, v_token, 1, p_ttl, 0, 0, 0;
			LEAVE whole;
		END IF;
	END IF;
	SET p_ttl = ABS(p_ttl);
	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT token, ttl, deadline, detached INTO v_token, v_ttl, v_deadline, v_left
	FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF v_token IS NOT NULL AND v_deadline <= v_now THEN
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_now);
		SET v_answer = 1;
	ELSEIF v_token IS NOT NULL AND p_token NOT IN (0, v_token) THEN
		SET v_answer = 1;
	ELSEIF v_token IS NOT NULL THEN
		IF v_left AND NOT v_alone THEN -- it was left alone since this was sent
			SET p_ttl = LEAST(v_ttl, v_deadline - v_now);
		ELSE
			CALL holdfast1_shorten(p_name, p_id, v_ttl, p_ttl, v_now);
			UPDATE holdfast_claims SET ttl = p_ttl, deadline = v_now + p_ttl, detached = v_alone
			WHERE name = p_name AND id = p_id;
		END IF;
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		SET v_more = v_waits IS NULL;
		SELECT granted, revoked INTO v_granted, v_revoked FROM holdfast_claims WHERE name = p_name AND id = p_id;
	ELSE
		SELECT MAX(deadline) INTO v_ended FROM holdfast_ends
		WHERE name = p_name AND id BETWEEN p_id AND p_last AND deadline > v_now;
		IF p_token <> 0 OR v_ended IS NOT NULL THEN
			SET v_answer = 1;
		ELSE
			CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
			SET v_more = v_waits IS NULL;
			SET v_granted = v_waits IS FALSE AND v_sum + p_weight <= LEAST(v_limit, p_units);
			IF v_granted AND v_sum = 0 AND NOT v_alone THEN -- it has the lock to itself
				UPDATE holdfast_locks SET token = LAST_INSERT_ID(GREATEST(token + 1, v_now)), queued = 0, weight = p_weight,
					units = p_units, ttl = p_ttl, deadline = v_now + p_ttl, since = v_now, owner = p_owner, value = p_value, id = p_id
				WHERE name = p_name;
				SET v_token = LAST_INSERT_ID();
				IF p_bells > 1 THEN
					CALL holdfast1_hang(p_id, 0);
				END IF;
				COMMIT;
				SELECT 5, v_token, 1, p_ttl, 0, 0, 0;
				LEAVE whole;
			ELSEIF v_granted OR p_stay THEN
				UPDATE holdfast_locks SET token = LAST_INSERT_ID(GREATEST(token + 1, v_now)), queued = 1 WHERE name = p_name;
				SET v_token = LAST_INSERT_ID(), v_new = 1;
				INSERT INTO holdfast_claims
					(name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value, detached)
				VALUES
					(p_name, p_id, v_token, p_weight, p_units, p_ttl, v_now + p_ttl, v_now, v_granted, 0, p_owner, p_value, v_alone);
			ELSE
				SET v_answer = 2;
			END IF;
		END IF;
	END IF;

	IF v_answer > 0 THEN
		COMMIT;
		SELECT v_answer, 0, 0, 0, v_more, 0, 0;
	ELSE
		IF p_bells THEN -- before others can see the claim
			CALL holdfast1_hang(p_id, NOT v_granted AND p_weight < p_units);
		END IF;
		IF v_new AND v_granted THEN
			COMMIT;
			SELECT 0, v_token, 1, p_ttl, 0, 0, 0;
		ELSEIF v_more AND NOT v_granted THEN
			COMMIT;
			SELECT 0, v_token, 0, p_ttl, 1, 0, v_revoked;
		ELSE
			CALL holdfast1_state(p_name, v_token, v_granted, p_ttl, v_revoked, v_now);
			COMMIT;
		END IF;
	END IF;
END
