-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, which is negative if the
-- claim is left alone, with spaces between them, and whether to renew. Returns for each line an answer (0 the state follows, 1
-- gone, 3 nothing is known, 4 as request does) and the state. Where somebody has a row locked it does not wait, since the other
-- claims have nothing to do with that: of this one nothing is known. Each statement is about all claims: one that was renewed is
-- known by its deadline. Who is first or last in a queue is read from its ends, however long it is.
CREATE PROCEDURE holdfast1_renew(p_claims LONGTEXT CHARACTER SET ascii, p_extend TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT;
	DECLARE v_busy LONGTEXT CHARACTER SET ascii;
	DECLARE v_claims LONGTEXT CHARACTER SET utf8mb4 DEFAULT REPLACE(REPLACE(p_claims, '\\', '\\\\'), '"', '\\"');
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET v_claims = IF(p_claims = '', '[]', CONCAT('[["', REPLACE(REPLACE(v_claims, ' ', '","'), '\n', '"],["'), '"]]'));
	CALL holdfast1_passany(v_claims, p_extend, v_busy);
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	IF p_extend THEN
		CALL holdfast1_extend(v_claims, v_busy, v_now);
	END IF;
	SELECT
		CASE
			WHEN FIND_IN_SET(t.name, v_busy) THEN 3
			WHEN l.id = CAST(t.id AS BINARY) AND l.deadline > v_now AND t.token IN (0, l.token)
				THEN IF(NOT p_extend OR l.deadline = v_now + ABS(t.ttl), 4, 3)
			WHEN c.id IS NULL THEN 1
			WHEN NOT p_extend OR c.detached AND t.ttl > 0 THEN 0
			ELSE IF(c.deadline = v_now + ABS(t.ttl), 0, 3)
		END,
		COALESCE(c.token, l.token, 0), COALESCE(c.granted, 1),
		COALESCE(IF(p_extend AND c.detached AND t.ttl > 0, LEAST(c.ttl, c.deadline - v_now), c.ttl), l.ttl, 0), -- it was left alone since
		CASE WHEN c.granted = 0 AND c.token = (
			SELECT o.token FROM holdfast_claims o
			WHERE o.name = c.name AND o.granted = 0 AND o.deadline > v_now ORDER BY o.token LIMIT 1
		) THEN (
			SELECT IF(COALESCE(SUM(o.weight), 0) + c.weight <= LEAST(COALESCE(MIN(o.units), c.units), c.units),
				1, GREATEST(1, COALESCE(MIN(LEAST(o.deadline, v_now + o.ttl)), 0) - v_now))
			FROM holdfast_claims o WHERE o.name = c.name AND o.granted = 1
		) WHEN c.granted = 0 THEN ( -- asking brings the deadline of the first in line back, as state says
			SELECT o.deadline - o.ttl > v_now FROM holdfast_claims o
			WHERE o.name = c.name AND o.granted = 0 AND o.deadline > v_now ORDER BY o.token LIMIT 1
		) ELSE 0 END,
		COALESCE(l.token > c.token AND (c.token < (
			SELECT o.token FROM holdfast_claims o
			WHERE o.name = c.name AND o.granted = 0 AND o.deadline > v_now ORDER BY o.token DESC LIMIT 1
		) OR c.token < (
			SELECT o.token FROM holdfast_claims o
			WHERE o.name = c.name AND o.granted = 1 AND o.deadline > v_now ORDER BY o.token DESC LIMIT 1
		)), 0),
		COALESCE(c.revoked, 0)
	FROM JSON_TABLE(v_claims, '$[*]' COLUMNS (
		n FOR ORDINALITY, name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', token BIGINT PATH '$[2]', ttl BIGINT PATH '$[3]'
	)) t
	LEFT JOIN holdfast_claims c
		ON c.name = UNHEX(t.name) AND c.id = CAST(t.id AS BINARY) AND c.deadline > v_now AND t.token IN (0, c.token)
	LEFT JOIN holdfast_locks l ON l.name = UNHEX(t.name)
	ORDER BY t.n;
	COMMIT;
END
