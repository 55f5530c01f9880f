-- Notes the end of a claim whose TTL becomes shorter before it comes: a late copy of a request that names the longer one may
-- arrive that much later. Nobody asks for the note while the claim is there. Takes name, ID, the TTLs before and from now on,
-- and now.
CREATE FUNCTION holdfast1_shorten(p_name bytea, p_id text, p_before bigint, p_ttl bigint, p_now bigint)
RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT p_name, p_id, 0, false, p_now + p_before + p_ttl WHERE p_ttl < p_before
	ON CONFLICT (name, id) DO UPDATE SET deadline = greatest(holdfast_ends.deadline, excluded.deadline)
$$;
