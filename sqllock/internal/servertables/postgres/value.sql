-- Reads what a lock keeps between its holders. Takes the name; returns token, time and value, or no row.
CREATE FUNCTION holdfast1_value(p_name bytea) RETURNS TABLE (token bigint, set_at bigint, value bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT v.token, v.set_at, v.value FROM holdfast_values v WHERE v.name = p_name AND v.value <> ''
$$;
