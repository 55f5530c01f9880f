-- Notes the end of a claim whose TTL becomes shorter before it comes: a late copy of a request that names the longer one may
-- arrive that much later. Nobody asks for the note while the claim is there. Takes name, ID, the TTLs before and from now on,
-- and now.
CREATE PROCEDURE holdfast1_shorten(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_before BIGINT, p_ttl BIGINT, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	IF p_ttl < p_before THEN
		INSERT INTO holdfast_ends (name, id, token, released, deadline)
		VALUES (p_name, p_id, 0, 0, p_now + p_before + p_ttl)
		ON DUPLICATE KEY UPDATE deadline = GREATEST(deadline, VALUES(deadline));
	END IF;
END
