-- Finds locks with claims that have expired. Takes how many, returns a name for each of the claims.
CREATE FUNCTION holdfast1_stale(p_most bigint) RETURNS TABLE (name bytea)
LANGUAGE sql SET search_path FROM CURRENT AS $$
	SELECT c.name FROM holdfast_claims c WHERE c.deadline <= (SELECT holdfast1_now()) ORDER BY c.deadline LIMIT p_most
$$;
