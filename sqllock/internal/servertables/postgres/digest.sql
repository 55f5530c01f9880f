-- Reads numbers that change with queues, though not when claims are renewed. Takes a JSON array of names in hexadecimal. Returns
-- three numbers for each, in their order.
CREATE FUNCTION holdfast1_digest(p_names text) RETURNS TABLE (length bigint, last bigint, marks bigint)
LANGUAGE sql SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
	SELECT count(c.token), coalesce(max(c.token), 0), coalesce(sum(c.granted::integer + 2 * c.revoked::integer), 0)
	FROM (
		SELECT place, decode(e, 'hex') AS name FROM json_array_elements_text(p_names::json) WITH ORDINALITY a (e, place)
	) t
	CROSS JOIN (SELECT holdfast1_now() AS now OFFSET 0) n
	LEFT JOIN LATERAL (
		SELECT q.token, q.granted, q.revoked FROM holdfast_locks l, holdfast_claims q
		WHERE l.name = t.name AND q.name || '' = t.name AND q.granted IN (false, true) AND q.token > l.released
			AND q.deadline > n.now
		UNION ALL
		SELECT token, true, false FROM holdfast_locks WHERE name = t.name AND id <> '' AND deadline > n.now
	) c ON true
	GROUP BY t.place ORDER BY t.place
$$;
