-- Tells of which claims that wait there may be news: one that was granted or has ended, whose lock was released, or whose
-- holder has expired, or was renewed before the clock was set back. It reads a few rows for each, and changes nothing. Takes a
-- JSON array of pairs of name in hexadecimal and ID. Returns the places of those in the array, from 1 on.
CREATE FUNCTION holdfast1_news(p_claims text) RETURNS TABLE (place bigint)
LANGUAGE sql SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
	SELECT t.place
	FROM (
		SELECT place, decode(e ->> 0, 'hex') AS name, e ->> 1 AS id
		FROM json_array_elements(p_claims::json) WITH ORDINALITY a (e, place)
	) t
	CROSS JOIN (SELECT holdfast1_now() AS now OFFSET 0) n
	LEFT JOIN holdfast_locks l ON l.name = t.name
	LEFT JOIN holdfast_claims c ON c.name = t.name AND c.id = t.id
	WHERE c.id IS NULL OR c.deadline <= n.now OR c.granted OR l.released > 0 OR coalesce((
		SELECT min(h.deadline) FROM holdfast_claims h WHERE h.name || '' = t.name AND h.granted AND h.token >= l.head
	), 0) <= n.now OR EXISTS (
		SELECT FROM holdfast_claims h WHERE h.name || '' = t.name AND h.granted AND h.token >= l.head AND h.deadline - h.ttl > n.now
	)
$$;
