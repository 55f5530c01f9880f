-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE PROCEDURE holdfast1_digest(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*), COALESCE(MAX(c.token), 0), CAST(COALESCE(SUM(c.granted + 2 * c.revoked), 0) AS SIGNED)
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.token > l.released AND c.deadline > v_now;
END
