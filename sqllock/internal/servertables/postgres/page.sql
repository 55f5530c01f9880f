-- Lists locks with live claims, looking at so many claims and no more, and at all of the last lock among them. Takes the name
-- to begin at, the name to end before, and how many rows to look at. Returns kinds with names: 0 the name after which to go on,
-- empty at the end; 1 a lock with live claims.
CREATE FUNCTION holdfast1_page(p_from bytea, p_end bytea, p_look bigint)
RETURNS TABLE (kind integer, name bytea) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now  bigint := holdfast1_now();
	v_seen record;
BEGIN
	SELECT count(*) AS rows, (array_agg(s.name ORDER BY s.name DESC))[1] AS last INTO v_seen FROM (
		SELECT c.name FROM holdfast_claims c WHERE c.name >= p_from AND c.name < p_end ORDER BY c.name LIMIT p_look
	) s;
	RETURN QUERY SELECT 0, CASE WHEN v_seen.rows < p_look THEN ''::bytea ELSE v_seen.last END;
	RETURN QUERY SELECT DISTINCT 1, c.name FROM holdfast_claims c
		WHERE c.name >= p_from AND c.name <= v_seen.last AND c.deadline > v_now
			AND c.token > (SELECT l.released FROM holdfast_locks l WHERE l.name = c.name);
END
$$;
