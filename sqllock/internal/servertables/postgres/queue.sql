-- Reads a queue, oldest first. Takes the name, returns the live claims and for how long each lives.
CREATE FUNCTION holdfast1_queue(p_name bytea)
RETURNS TABLE (
	id text, token bigint, weight bigint, units bigint, ttl bigint, remaining bigint, since bigint, owner bytea, value bytea
)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT c.id, c.token, c.weight, c.units, c.ttl, c.deadline - n.now, c.since, c.owner, c.value
	FROM holdfast_locks l, holdfast_claims c, (SELECT holdfast1_now() AS now) n
	WHERE l.name = p_name AND c.name || '' = p_name AND c.granted IN (false, true) AND c.token > l.released AND c.deadline > n.now ORDER BY c.token
$$;
