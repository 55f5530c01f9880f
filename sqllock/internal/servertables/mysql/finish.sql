-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, token and TTL, whether
-- it was released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays. A note that
-- bars it for longer stays as long.
CREATE PROCEDURE holdfast1_finish(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_released TINYINT, p_now BIGINT,
	p_most BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_until BIGINT;
	DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline <= p_most;
	IF ROW_COUNT() > 0 THEN
		INSERT INTO holdfast_ends (name, id, token, released, deadline)
		VALUES (p_name, p_id, p_token, p_released, p_now + p_ttl)
		ON DUPLICATE KEY UPDATE
			token = VALUES(token), released = VALUES(released), deadline = GREATEST(deadline, VALUES(deadline));
		SELECT deadline INTO v_until FROM holdfast_ends WHERE name = p_name AND id = p_id;
		CALL holdfast1_bar(p_name, p_now, v_until);
	END IF;
END
