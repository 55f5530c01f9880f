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
