-- Waits until a claim is granted or has ended, or until it is time to ask again. While one claim alone decides that, this
-- sleeps until that claim's bell rings. Takes name, ID, how long to wait, and whether there are bells. Returns an answer (0 the
-- state follows, 1 gone, 2 ask again, 3 nothing new) and the state. Of a claim that is granted it says that others wait if any
-- was queued behind it.
--
-- However long its caller wants to wait, this waits for at most 0.8 seconds: who makes the routine anew waits for it to end, and
-- servers log slow statements. MySQL knows whole seconds only in GET_LOCK. There this session counts as slow what takes longer
-- than two.
CREATE PROCEDURE holdfast1_wait(p_name VARBINARY(1024), p_id VARBINARY(64), p_limit BIGINT, p_bells TINYINT)
SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_now, v_began, v_end, v_token, v_weight, v_units, v_ttl, v_noted, v_ahead, v_other_token, v_other_weight, v_other_units,
		v_holders, v_until, v_pause BIGINT; -- ahead is the token of the claim right ahead
	DECLARE v_granted, v_behind, v_revoked, v_room TINYINT;
	DECLARE v_other VARBINARY(64);
	DECLARE v_bell, v_rung VARCHAR(64) DEFAULT ''; -- rung is a bell that nobody holds, though the claim is there
	DECLARE v_answer INT DEFAULT 3;
	DECLARE v_fractions BOOLEAN DEFAULT VERSION() LIKE '%MariaDB%'; -- of seconds, in GET_LOCK
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SET v_began = v_now, v_end = v_now + LEAST(p_limit, 800000);
	IF NOT v_fractions AND @@SESSION.long_query_time < 2 THEN
		SET SESSION long_query_time = 2;
	END IF;
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

		SET v_other = NULL;
		SELECT id, token, weight, units, deadline INTO v_other, v_other_token, v_other_weight, v_other_units, v_until
		FROM holdfast_claims
		WHERE name = p_name AND granted = 0 AND token < v_token AND deadline > v_now ORDER BY token DESC LIMIT 1;
		IF v_other IS NOT NULL AND v_other_weight < v_other_units THEN -- its grant may be this claim's, too
			SET v_bell = ':wait';
		ELSEIF v_other IS NOT NULL THEN
			SET v_bell = ':end';
		ELSE
			SELECT COUNT(*), MIN(deadline), MAX(id), MAX(token),
				COALESCE(SUM(weight), 0) + v_weight <= LEAST(COALESCE(MIN(units), v_units), v_units)
			INTO v_holders, v_until, v_other, v_other_token, v_room
			FROM holdfast_claims WHERE name = p_name AND granted = 1 AND token < v_token;
			IF v_room OR v_until <= v_now THEN
				SELECT granted INTO v_granted FROM holdfast_claims WHERE name = p_name AND id = p_id;
				IF v_granted THEN -- a moment ago
					ITERATE waiting;
				END IF;
				SET v_answer = 2; -- it will be when somebody asks
				LEAVE waiting;
			END IF;
			SET v_bell = IF(v_holders > 1 AND v_weight < v_units, '', ':end'); -- any of several may make room
		END IF;
		SET v_ahead = IF(EXISTS ( -- one that has expired, too: it is granted first, if the clock is set back
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > v_other_token AND token < v_token
		), NULL, v_other_token);
		SET v_pause = LEAST(v_until - v_now, v_end - v_now);
		IF v_bell <> '' THEN
			SET v_bell = CONCAT('holdfast:', LEFT(SHA2(CONCAT(DATABASE(), ':', v_other), 256), 40), v_bell);
		END IF;

		IF p_bells AND v_bell NOT IN ('', v_rung) THEN
			SET v_rung = '';
			IF GET_LOCK(v_bell, IF(v_fractions, v_pause / 1000000, 1)) AND RELEASE_LOCK(v_bell) THEN
				SET v_rung = v_bell;
			END IF;
		ELSE
			DO SLEEP(LEAST(v_pause, 20000, 500 + (v_now - v_began) DIV 4) / 1000000); -- longer and longer
			SET v_rung = '';
		END IF;
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	END LOOP;

	SELECT v_answer, 0, 0, 0, 0, 0, 0;
END
