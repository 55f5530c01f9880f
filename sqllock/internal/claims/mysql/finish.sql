-- Takes a claim out of its queue, whose row is locked, and bars its ID for its TTL. Takes name, ID, whether it was
-- released, now, and the deadline up to which it may be taken: a claim that was renewed meanwhile stays.
CREATE PROCEDURE holdfast1_finish(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_released TINYINT, p_now BIGINT, p_most BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_token, v_ttl BIGINT DEFAULT NULL;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SELECT token, ttl INTO v_token, v_ttl FROM holdfast_claims
	WHERE name = p_name AND id = p_id AND deadline <= p_most FOR UPDATE;
	IF v_token IS NOT NULL THEN
		DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id;
		REPLACE INTO holdfast_ends (name, id, token, released, deadline)
		VALUES (p_name, p_id, v_token, p_released, p_now + v_ttl);
	END IF;
END
