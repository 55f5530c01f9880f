-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes lines of names in hexadecimal,
-- and for how many microseconds tokens are kept. Returns the names of those that nobody used meanwhile. Values that were
-- removed go with them. What was released last stays barred.
CREATE FUNCTION holdfast1_retire(p_names text, p_keep bigint) RETURNS TABLE (name bytea)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now   bigint := holdfast1_now();
	v_least bigint := v_now - p_keep;
BEGIN
	RETURN QUERY WITH retired AS (
		DELETE FROM holdfast_locks l WHERE l.token < v_least AND l.id = '' AND l.name = ANY (ARRAY(
			SELECT o.name FROM holdfast_locks o
			WHERE o.name = ANY (ARRAY(SELECT decode(n, 'hex') FROM unnest(string_to_array(p_names, E'\n')) n))
				AND o.token < v_least AND o.id = '' AND NOT EXISTS (SELECT FROM holdfast_claims c WHERE c.name = o.name)
			ORDER BY o.name FOR UPDATE SKIP LOCKED
		)) RETURNING l.name, l.ended, l.under, l.barred
	), barred AS (
		INSERT INTO holdfast_ends (name, id, token, released, deadline)
		SELECT r.name, r.ended, r.under, true, r.barred FROM retired r WHERE r.ended <> '' AND r.barred > v_now
		ON CONFLICT (name, id) DO UPDATE SET token = excluded.token, released = excluded.released, deadline = excluded.deadline
	), removed AS (
		DELETE FROM holdfast_values v USING retired r WHERE v.name = r.name AND v.value = ''
	)
	SELECT r.name FROM retired r;
END
$$;
