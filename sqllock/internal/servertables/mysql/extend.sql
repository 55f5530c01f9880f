-- Lets claims live on, all in a few statements. Takes a JSON array of arrays of name in hexadecimal, ID, token or 0, and TTL,
-- which is negative if the claim is left alone; names that are left out, with commas between them; and now. Each claim that it
-- renews has that TTL from now on, to the microsecond. It does not wait for rows that somebody else has locked, and leaves
-- those out, too: only a SELECT can, so the rows that it has locked are inserted, though each is a duplicate that is updated. The
-- inner SELECT keeps MySQL from locking what is not a table.
CREATE PROCEDURE holdfast1_extend(
	p_claims LONGTEXT CHARACTER SET utf8mb4, p_without LONGTEXT CHARACTER SET ascii, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	INSERT INTO holdfast_ends (name, id, token, released, deadline) -- as shorten does
	SELECT c.name, c.id, 0, 0, p_now + c.ttl + ABS(t.ttl)
	FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
		name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', token BIGINT PATH '$[2]', ttl BIGINT PATH '$[3]'
	)) t
	STRAIGHT_JOIN holdfast_claims c ON c.name = UNHEX(t.name) AND c.id = CAST(t.id AS BINARY)
	WHERE ABS(t.ttl) < c.ttl AND c.deadline > p_now AND t.token IN (0, c.token) AND (t.ttl < 0 OR NOT c.detached)
	ON DUPLICATE KEY UPDATE deadline = GREATEST(holdfast_ends.deadline, VALUES(deadline));

	INSERT INTO holdfast_locks (name, token, released, ttl, deadline)
	SELECT l.name, 0, 0, t.ttl, p_now + t.ttl FROM (
		SELECT DISTINCT name, id, token, ttl FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
			name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', token BIGINT PATH '$[2]', ttl BIGINT PATH '$[3]'
		)) j
	) t
	STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.name)
	WHERE l.id = CAST(t.id AS BINARY) AND l.deadline > p_now AND t.token IN (0, l.token) AND t.ttl >= l.ttl
	FOR UPDATE SKIP LOCKED
	ON DUPLICATE KEY UPDATE ttl = VALUES(ttl), deadline = VALUES(deadline);

	INSERT INTO holdfast_claims
		(name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value, detached)
	SELECT c.name, c.id, 0, 0, 0, ABS(t.ttl), p_now + ABS(t.ttl), 0, 0, 0, '', '', t.ttl < 0 FROM (
		SELECT DISTINCT name, id, token, ttl FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
			name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', token BIGINT PATH '$[2]', ttl BIGINT PATH '$[3]'
		)) j
	) t
	STRAIGHT_JOIN holdfast_claims c ON c.name = UNHEX(t.name) AND c.id = CAST(t.id AS BINARY)
	WHERE NOT FIND_IN_SET(t.name, p_without) AND c.deadline > p_now AND t.token IN (0, c.token) AND (t.ttl < 0 OR NOT c.detached)
		AND (ABS(t.ttl) >= c.ttl OR EXISTS (
			SELECT 1 FROM holdfast_ends e
			WHERE e.name = c.name AND e.id = c.id AND e.deadline >= p_now + c.ttl + ABS(t.ttl)
		))
	FOR UPDATE SKIP LOCKED
	ON DUPLICATE KEY UPDATE ttl = VALUES(ttl), deadline = VALUES(deadline), detached = VALUES(detached);
END
