-- Asks a holder to let go. Takes name and ID. Returns 0, or 1 when there is no such claim or it is not granted.
CREATE FUNCTION holdfast1_revoke(p_name bytea, p_id text) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now bigint;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	PERFORM holdfast1_settle(p_name, v_now);
	UPDATE holdfast_claims SET revoked = true WHERE name = p_name AND id = p_id AND granted::integer = 1 AND deadline > v_now;
	RETURN (NOT FOUND)::integer;
END
$$;
