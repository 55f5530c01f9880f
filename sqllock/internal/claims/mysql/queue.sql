-- Reads a queue, oldest first. Takes the name, returns the live claims and for how long each lives.
CREATE PROCEDURE holdfast1_queue(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT id, token, weight, units, ttl, deadline - v_now, since, owner, value
	FROM holdfast_claims WHERE name = p_name AND deadline > v_now ORDER BY token;
END
