-- Tells of which claims that wait there may be news: one that was granted or has ended, whose lock was released, or whose
-- holder has expired, or was renewed before the clock was set back. It reads a few rows for each, and changes nothing. Takes a
-- JSON array of pairs of name in hexadecimal and ID. Returns the places of those in the array, from 1 on.
CREATE PROCEDURE holdfast1_news(p_claims LONGTEXT CHARACTER SET utf8mb4) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT t.place FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
		place FOR ORDINALITY, name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]'
	)) t
	LEFT JOIN holdfast_locks l ON l.name = UNHEX(t.name)
	LEFT JOIN holdfast_claims c ON c.name = UNHEX(t.name) AND c.id = CAST(t.id AS BINARY)
	WHERE c.id IS NULL OR c.deadline <= v_now OR c.granted = 1 OR l.released > 0 OR COALESCE((
		SELECT MIN(h.deadline) FROM holdfast_claims h WHERE h.name = UNHEX(t.name) AND h.granted = 1
	), 0) <= v_now OR EXISTS (
		SELECT 1 FROM holdfast_claims h WHERE h.name = UNHEX(t.name) AND h.granted = 1 AND h.deadline - h.ttl > v_now
	);
END
