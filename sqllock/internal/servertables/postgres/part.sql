-- Reads a part of a queue, oldest first, looking at so many claims and no more. Takes the name, the token after which to begin,
-- and how many to look at. Returns them and for how long each lives: no longer than 0 where it is over. Those that are granted
-- and those that wait follow each other in the index, so that it looks at as many of both.
CREATE FUNCTION holdfast1_part(p_name bytea, p_after bigint, p_look bigint)
RETURNS TABLE (
	id text, token bigint, weight bigint, units bigint, ttl bigint, remaining bigint, since bigint, owner bytea, value bytea
)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT c.id, c.token, c.weight, c.units, c.ttl, c.deadline - n.now, c.since, c.owner, c.value
	FROM holdfast_locks l, (SELECT holdfast1_now() AS now) n, LATERAL (
		(SELECT * FROM holdfast_claims g
			WHERE g.name || '' = p_name AND g.granted AND g.token > greatest(p_after, l.released, l.head - 1)
			ORDER BY g.token LIMIT p_look)
		UNION ALL
		(SELECT * FROM holdfast_claims w
			WHERE w.name || '' = p_name AND NOT w.granted AND w.token > greatest(p_after, l.released, l.head - 1)
			ORDER BY w.token LIMIT p_look)
		UNION ALL
		(SELECT l.name, l.id, l.token, l.weight, l.units, l.ttl, l.deadline, l.since, true, false, l.owner, l.value, false
			WHERE l.id <> '' AND l.token > p_after)
	) c WHERE l.name = p_name ORDER BY c.token LIMIT p_look
$$;
