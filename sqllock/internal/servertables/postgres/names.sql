-- Lists locks with live claims. Takes a prefix of their names, returns names.
CREATE FUNCTION holdfast1_names(p_prefix bytea) RETURNS TABLE (name bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT DISTINCT c.name FROM holdfast_claims c JOIN holdfast_locks l USING (name), (SELECT holdfast1_now() AS now) n
	WHERE c.name >= p_prefix AND substr(c.name, 1, length(p_prefix)) = p_prefix
		AND c.token > l.released AND c.deadline > n.now
$$;
