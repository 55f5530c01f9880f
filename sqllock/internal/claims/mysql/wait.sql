-- Waits until a claim is granted or has ended, or until it is time to ask again. While one claim alone decides that, this
-- sleeps until that claim's bell rings, and looks now and then nevertheless: the next in line every second, others every
-- five. Takes name, ID, how long to wait, and whether there are bells. Returns an answer (0 the state follows, 1 gone, 2 ask
-- again, 3 nothing new) and the state.
CREATE PROCEDURE holdfast1_wait(p_name VARBINARY(1024), p_id VARBINARY(64), p_limit BIGINT, p_bells TINYINT)
SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_now, v_end, v_token, v_mine, v_weight, v_units, v_other_weight, v_other_units, v_holders, v_until, v_pause,
		v_ttl BIGINT;
	DECLARE v_granted, v_revoked TINYINT;
	DECLARE v_behind TINYINT DEFAULT 0;
	DECLARE v_other VARBINARY(64);
	DECLARE v_bell, v_rung VARCHAR(64) DEFAULT ''; -- rung is a bell that nobody holds, though the claim is there
	DECLARE v_answer INT DEFAULT 3;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SET v_end = v_now + p_limit;
	waiting: LOOP
		SET v_mine = v_token, v_token = NULL;
		IF v_rung = '' THEN
			SELECT token, granted, weight, units, ttl, revoked INTO v_token, v_granted, v_weight, v_units, v_ttl, v_revoked
			FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline > v_now;
		ELSE -- whoever rang may still have the row of the lock, so until then nobody joins or leaves the queue
			SELECT 1 INTO v_behind FROM holdfast_claims
			WHERE name = p_name AND granted IN (0, 1) AND token > v_mine AND deadline > v_now LIMIT 1;
			SELECT c.token, c.granted, c.weight, c.units, c.ttl, c.revoked
			INTO v_token, v_granted, v_weight, v_units, v_ttl, v_revoked
			FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
			WHERE l.name = p_name AND c.name = p_name AND c.id = p_id AND c.deadline > v_now LOCK IN SHARE MODE;
			IF v_granted THEN
				SELECT 0, v_token, 1, v_ttl, 0, v_behind, v_revoked;
				LEAVE whole;
			END IF;
		END IF;
		IF v_token IS NULL THEN
			SET v_answer = 1;
			LEAVE waiting;
		ELSEIF v_granted THEN
			SET v_answer = 0;
			LEAVE waiting;
		ELSEIF v_now >= v_end THEN
			LEAVE waiting;
		END IF;

		SET v_pause = 5000000, v_other = NULL;
		SELECT id, weight, units, deadline INTO v_other, v_other_weight, v_other_units, v_until FROM holdfast_claims
		WHERE name = p_name AND granted = 0 AND token < v_token AND deadline > v_now ORDER BY token DESC LIMIT 1;
		IF v_other IS NOT NULL AND v_other_weight < v_other_units THEN -- its grant may be this claim's, too
			SET v_bell = ':wait';
		ELSEIF v_other IS NOT NULL THEN
			SET v_bell = ':end';
		ELSE
			SELECT COUNT(*), MIN(deadline), MAX(id) INTO v_holders, v_until, v_other
			FROM holdfast_claims WHERE name = p_name AND granted = 1 AND token < v_token;
			IF v_holders = 0 OR v_until <= v_now THEN -- it was granted a moment ago, or will be when somebody asks
				SELECT granted INTO v_granted FROM holdfast_claims WHERE name = p_name AND id = p_id;
				SET v_answer = IF(v_granted, 0, 2);
				LEAVE waiting;
			END IF;
			SET v_bell = IF(v_holders > 1 AND v_weight < v_units, '', ':end'); -- any of several may make room
			SET v_pause = 1000000;
		END IF;
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

	IF v_answer = 0 THEN
		CALL holdfast1_state(p_name, v_token, v_granted, v_ttl, v_revoked, v_now);
	ELSE
		SELECT v_answer, 0, 0, 0, 0, 0, 0;
	END IF;
END
