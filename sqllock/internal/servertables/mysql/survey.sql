-- Looks for what can be swept, among so many locks and claims and no more, and changes nothing. Takes the names after which
-- to begin, for how many microseconds the tokens of locks are kept, and how many rows to look at. Returns kinds with names: 0
-- and 1 the names after which to go on, empty at the end; 2 a lock with claims that have expired; 3 one that was not used.
CREATE PROCEDURE holdfast1_survey(
	p_locks VARBINARY(1024), p_claims VARBINARY(1024), p_keep BIGINT, p_look BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_locks, v_claims VARBINARY(1024);
	DECLARE v_seen_locks, v_seen_claims BIGINT;

	SELECT MAX(name), COUNT(*) INTO v_locks, v_seen_locks
	FROM (SELECT name FROM holdfast_locks WHERE name > p_locks ORDER BY name LIMIT p_look) s;
	SELECT MAX(name), COUNT(*) INTO v_claims, v_seen_claims
	FROM (SELECT name FROM holdfast_claims WHERE name > p_claims ORDER BY name LIMIT p_look) s;

	SELECT 0, IF(v_seen_locks < p_look, '', v_locks);
	SELECT 1, IF(v_seen_claims < p_look, '', v_claims);
	IF v_seen_claims > 0 THEN
		SELECT DISTINCT 2, name FROM holdfast_claims WHERE name > p_claims AND name <= v_claims AND deadline <= v_now;
	END IF;
	IF v_seen_locks > 0 THEN
		SELECT IF(l.id <> '', 2, 3), l.name FROM holdfast_locks l
		WHERE l.name > p_locks AND l.name <= v_locks AND (l.id <> '' AND l.deadline <= v_now
			OR l.id = '' AND l.token < v_now - p_keep AND NOT EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = l.name));
	END IF;
END
