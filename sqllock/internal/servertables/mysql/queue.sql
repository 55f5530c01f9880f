-- Reads a queue, oldest first. Takes the name, returns the live claims and for how long each lives.
CREATE PROCEDURE holdfast1_queue(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT c.id, c.token, c.weight, c.units, c.ttl, c.deadline - v_now, c.since, c.owner, c.value
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > v_now ORDER BY c.token;
END
