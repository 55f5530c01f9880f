-- Makes the front of a queue, whose row is locked, what it should be: dead claims leave it, and what becomes grantable is
-- granted. One call takes out 200 claims at most, or grants them. Takes name and now. Returns the units that are granted, the
-- least limit among those claims, and whether a claim waits: NULL where there is more to do, for which to call it again.
CREATE PROCEDURE holdfast1_settle(
	p_name VARBINARY(1024), p_now BIGINT, OUT o_sum BIGINT, OUT o_limit BIGINT, OUT o_waits TINYINT
) SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_deadline, v_since, v_dead, v_taken, v_last BIGINT; -- since is the latest renewal
	DECLARE v_most BIGINT DEFAULT 200;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	holding: LOOP
		SELECT COALESCE(SUM(weight), 0), COALESCE(MIN(units), 2147483647), MIN(deadline), MAX(deadline - ttl)
		INTO o_sum, o_limit, v_deadline, v_since FROM holdfast_claims WHERE name = p_name AND granted = 1;
		IF v_since > p_now THEN
			CALL holdfast1_rewind(p_name, p_now, 1);
		END IF;
		IF v_deadline IS NULL OR v_deadline > p_now THEN
			LEAVE holding;
		END IF;
		IF v_most <= 0 THEN
			LEAVE whole;
		END IF;
		CALL holdfast1_bury(p_name, p_now, 1, 0, v_most, v_dead, v_taken, v_last);
		SET v_most = v_most - GREATEST(1, v_dead);
	END LOOP;

	CALL holdfast1_grant(p_name, p_now, o_sum, o_limit, o_waits);
END
