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
