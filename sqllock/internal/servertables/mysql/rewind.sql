-- Brings back deadlines that are further ahead than a TTL, because the clock was set back since the claims were renewed. It was
-- renewed before now, so none of them ends earlier than its holder believes. It locks a row before it reads the clock: who has
-- just renewed one was there before. Takes name, now, and which claims: those that are granted, or those that wait; 200 at most,
-- from the front on.
CREATE PROCEDURE holdfast1_rewind(p_name VARBINARY(1024), p_now BIGINT, p_granted TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_token BIGINT;
	DECLARE v_after BIGINT DEFAULT 0;
	DECLARE v_most BIGINT DEFAULT 200;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	rewinding: WHILE v_most > 0 DO
		SET v_token = NULL;
		SELECT token INTO v_token FROM holdfast_claims
		WHERE name = p_name AND granted = p_granted AND token > v_after AND deadline - ttl > p_now
		ORDER BY token LIMIT 1 FOR UPDATE;
		IF v_token IS NULL THEN
			LEAVE rewinding;
		END IF;
		SET p_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
		UPDATE holdfast_claims SET deadline = p_now + ttl
		WHERE name = p_name AND granted = p_granted AND token = v_token AND deadline - ttl > p_now;
		SET v_after = v_token, v_most = v_most - 1;
	END WHILE;
END
