-- Ends a claim by force. Takes name and ID. Returns 0, or 1 when there is no such claim.
CREATE FUNCTION holdfast1_break(p_name bytea, p_id text) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now   bigint;
	v_claim record;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT deadline INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF NOT FOUND THEN
		RETURN 1;
	END IF;
	PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_claim.deadline);
	PERFORM holdfast1_settle(p_name, v_now);
	RETURN (v_claim.deadline <= v_now)::integer;
END
$$;
