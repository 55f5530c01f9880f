-- Looks for what can be swept, among so many locks and claims and no more, and changes nothing. Takes the names after which
-- to begin, for how many microseconds the tokens of locks are kept, and how many rows to look at. Returns kinds with names: 0
-- and 1 the names after which to go on, empty at the end; 2 a lock with claims that have expired; 3 one that was not used.
CREATE FUNCTION holdfast1_survey(p_locks bytea, p_claims bytea, p_keep bigint, p_look bigint)
RETURNS TABLE (kind integer, name bytea) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now    bigint := holdfast1_now();
	v_locks  record;
	v_claims record;
BEGIN
	SELECT count(*) AS seen, (array_agg(s.name ORDER BY s.name DESC))[1] AS last INTO v_locks
	FROM (SELECT l.name FROM holdfast_locks l WHERE l.name > p_locks ORDER BY l.name LIMIT p_look) s;
	SELECT count(*) AS seen, (array_agg(s.name ORDER BY s.name DESC))[1] AS last INTO v_claims
	FROM (SELECT c.name FROM holdfast_claims c WHERE c.name > p_claims ORDER BY c.name LIMIT p_look) s;

	RETURN QUERY SELECT 0, CASE WHEN v_locks.seen < p_look THEN ''::bytea ELSE v_locks.last END;
	RETURN QUERY SELECT 1, CASE WHEN v_claims.seen < p_look THEN ''::bytea ELSE v_claims.last END;
	RETURN QUERY SELECT DISTINCT 2, c.name FROM holdfast_claims c
		WHERE c.name > p_claims AND c.name <= v_claims.last AND c.deadline <= v_now;
	RETURN QUERY SELECT CASE WHEN l.id <> '' THEN 2 ELSE 3 END, l.name FROM holdfast_locks l
		WHERE l.name > p_locks AND l.name <= v_locks.last AND (l.id <> '' AND l.deadline <= v_now
			OR l.id = '' AND l.token < v_now - p_keep AND NOT EXISTS (SELECT FROM holdfast_claims c WHERE c.name = l.name));
END
$$;
