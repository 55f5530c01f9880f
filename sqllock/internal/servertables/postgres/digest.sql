-- Reads numbers that change with a queue, though not when claims are renewed. Takes the name, returns three numbers.
CREATE FUNCTION holdfast1_digest(p_name bytea) RETURNS TABLE (length bigint, last bigint, marks bigint)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT count(*), coalesce(max(c.token), 0), coalesce(sum(c.granted::integer + 2 * c.revoked::integer), 0)::bigint
	FROM holdfast_locks l, holdfast_claims c, (SELECT holdfast1_now() AS now) n
	WHERE l.name = p_name AND c.name || '' = p_name AND c.granted IN (false, true) AND c.token > l.released AND c.deadline > n.now
$$;
