-- Grants what is grantable at the front of a queue, whose row is locked, and takes waiting claims that are dead out of it. It
-- reads no further than the first claim that has to wait, and than 200 claims. Takes name, now, the units that are granted, and
-- the least limit among those claims. Returns these anew and, where there is room for more, whether a claim waits: NULL where it
-- stopped before it knew. What it has taken out is still in the way, so it does not begin at the front each time.
CREATE PROCEDURE holdfast1_grant(
	p_name VARBINARY(1024), p_now BIGINT, INOUT o_sum BIGINT, INOUT o_limit BIGINT, OUT o_waits TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_weight, v_units, v_deadline, v_since, v_dead, v_taken, v_last BIGINT;
	DECLARE v_after BIGINT DEFAULT 0;
	DECLARE v_most BIGINT DEFAULT 200;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	SET o_waits = 1;
	waiting: WHILE o_sum < o_limit DO
		IF v_most <= 0 THEN
			SET o_waits = NULL;
			LEAVE waiting;
		END IF;
		SET v_id = NULL;
		SELECT id, token, weight, units, deadline INTO v_id, v_token, v_weight, v_units, v_deadline
		FROM holdfast_claims WHERE name = p_name AND granted = 0 AND token > v_after ORDER BY token LIMIT 1;
		SET o_waits = v_id IS NOT NULL;
		IF v_id IS NULL THEN
			LEAVE waiting;
		END IF;
		IF v_deadline <= p_now THEN
			CALL holdfast1_bury(p_name, p_now, 0, v_after, v_most, v_dead, v_taken, v_last);
			SET v_most = v_most - GREATEST(1, v_dead);
			SET v_after = IF(v_taken = v_dead, v_last, v_after);
			ITERATE waiting;
		END IF;
		IF o_sum + v_weight > LEAST(o_limit, v_units) THEN
			LEAVE waiting;
		END IF;
		UPDATE holdfast_claims SET granted = 1 WHERE name = p_name AND id = v_id;
		SET v_after = v_token, v_most = v_most - 1;
		SET o_sum = o_sum + v_weight;
		SET o_limit = LEAST(o_limit, v_units);
	END WHILE;
	-- Of those that wait it looks at the first that lives, as state does: who is told to ask must find something done.
	IF o_waits THEN
		SELECT deadline - ttl INTO v_since FROM holdfast_claims
		WHERE name = p_name AND granted = 0 AND token > v_after AND deadline > p_now ORDER BY token LIMIT 1;
		IF v_since > p_now THEN
			CALL holdfast1_rewind(p_name, p_now, 0);
		END IF;
	END IF;
END
