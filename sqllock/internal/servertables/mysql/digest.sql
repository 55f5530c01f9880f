-- Reads numbers that change with queues, though not when claims are renewed. Takes a JSON array of names in hexadecimal. Returns
-- three numbers for each, in their order.
CREATE PROCEDURE holdfast1_digest(p_names LONGTEXT CHARACTER SET utf8mb4) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(c.token) + COUNT(a.token), GREATEST(COALESCE(MAX(c.token), 0), COALESCE(MAX(a.token), 0)),
		CAST(COALESCE(SUM(c.granted + 2 * c.revoked), 0) + COUNT(a.token) AS SIGNED)
	FROM JSON_TABLE(p_names, '$[*]' COLUMNS (place FOR ORDINALITY, name VARCHAR(2048) PATH '$')) t
	LEFT JOIN holdfast_locks l ON l.name = UNHEX(t.name)
	LEFT JOIN holdfast_locks a ON a.name = l.name AND a.id <> '' AND a.deadline > v_now -- whose claim has it to itself
	LEFT JOIN holdfast_claims c ON c.name = l.name AND c.token > l.released AND c.deadline > v_now
	GROUP BY t.place ORDER BY t.place;
END
