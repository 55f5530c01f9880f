-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE PROCEDURE holdfast1_digest(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*), COALESCE(MAX(c.token), 0), CAST(COALESCE(SUM(c.marks), 0) AS SIGNED) FROM (
		SELECT q.token, q.granted + 2 * q.revoked AS marks FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims q
		WHERE l.name = p_name AND q.name = p_name AND q.token > l.released AND q.deadline > v_now
		UNION ALL
		SELECT token, 1 FROM holdfast_locks WHERE name = p_name AND id <> '' AND deadline > v_now
	) c;
END
