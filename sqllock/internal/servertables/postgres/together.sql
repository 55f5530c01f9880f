-- Requests and releases claims, all in one statement, as far as each of them has its lock to itself. Takes a JSON array, sorted by
-- name, of which no two are about one lock: n is the name in hexadecimal, i the ID, and t the token of a claim that is released, or
-- 0 for one that is requested; that has f, which all IDs of its series are greater than, w, its weight, u, its limit, l, its TTL, and
-- o and v, its owner and its value in hexadecimal. Returns the places of those that were released, and of those that were granted
-- with their tokens, from 1 on. Nothing was done about the others, which are to be requested or released each by itself: their
-- locks are queued for, or their rows are locked, for which it does not wait.
CREATE FUNCTION holdfast1_together(p_claims text) RETURNS TABLE (place bigint, token bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
	v_now bigint := holdfast1_now();
BEGIN
	RETURN QUERY WITH wanted AS MATERIALIZED (
		SELECT t.place, decode(t.n, 'hex') AS name, t.i AS id, coalesce(t.f, '') AS before, t.t AS token, t.w AS weight, t.u AS units,
			t.l AS ttl, decode(t.o, 'hex') AS owner, decode(t.v, 'hex') AS value
		FROM ROWS FROM (json_to_recordset(p_claims::json)
			AS (n text, i text, f text, t bigint, w bigint, u bigint, l bigint, o text, v text)) WITH ORDINALITY
			AS t (n, i, f, t, w, u, l, o, v, place)
	), alone AS MATERIALIZED (
		SELECT w.* FROM wanted w JOIN holdfast_locks l ON l.name = w.name
		WHERE CASE w.token WHEN 0 THEN
			l.id = '' AND NOT l.queued AND l.released = 0 AND (l.barred <= v_now OR l.ended > w.before AND l.ended < w.id)
		ELSE
			l.id = w.id AND l.token = w.token AND l.deadline > v_now
		END
		ORDER BY w.place FOR UPDATE OF l SKIP LOCKED
	), released AS (
		UPDATE holdfast_locks l SET id = '', ended = l.id, under = l.token, barred = greatest(l.barred, v_now + l.ttl)
		FROM alone a WHERE a.token > 0 AND l.name = a.name RETURNING a.place, l.token
	), granted AS (
		UPDATE holdfast_locks l SET token = greatest(l.token + 1, v_now), id = a.id, weight = a.weight, units = a.units, ttl = a.ttl,
			deadline = v_now + a.ttl, since = v_now, owner = a.owner, value = a.value
		FROM alone a WHERE a.token = 0 AND l.name = a.name RETURNING a.place, l.token
	)
	SELECT * FROM released UNION ALL SELECT * FROM granted;
END
$$;
