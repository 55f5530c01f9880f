-- Forgets claims that ended long enough ago. Takes how many, returns how many it were.
CREATE FUNCTION holdfast1_forget(p_most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_count bigint;
BEGIN
	DELETE FROM holdfast_ends WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM holdfast_ends WHERE deadline <= (SELECT holdfast1_now())
		ORDER BY deadline LIMIT p_most FOR UPDATE SKIP LOCKED
	));
	GET DIAGNOSTICS v_count = ROW_COUNT;
	RETURN v_count;
END
$$;
