-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE FUNCTION holdfast1_digest(p_name bytea) RETURNS TABLE (length bigint, last bigint, marks bigint)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT count(*), coalesce(max(c.token), 0), coalesce(sum(c.granted::integer + 2 * c.revoked::integer), 0)::bigint
	FROM (SELECT holdfast1_now() AS now) n, holdfast_locks l, LATERAL (
		SELECT q.token, q.granted, q.revoked, q.deadline FROM holdfast_claims q
		WHERE q.name || '' = p_name AND q.granted IN (false, true) AND q.token > l.released
		UNION ALL
		SELECT l.token, true, false, l.deadline WHERE l.id <> ''
	) c WHERE l.name = p_name AND c.deadline > n.now
$$;
