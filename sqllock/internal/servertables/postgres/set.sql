-- Sets what a lock keeps between its holders. Takes name, ID and token of a claim, then token, time and value. Returns 0, 1
-- when there is no such claim or it is not granted, or 2 when the value was set after that already.
CREATE FUNCTION holdfast1_set(
	p_name bytea, p_id text, p_claim bigint, p_token bigint, p_set_at bigint, p_value bytea
) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now  bigint;
	v_kept record;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	PERFORM holdfast1_settle(p_name, v_now);
	IF (
		SELECT token = p_claim AND granted FROM holdfast_claims WHERE name = p_name AND id = p_id AND deadline > v_now
	) IS NOT TRUE THEN
		RETURN 1;
	END IF;
	SELECT token, set_at INTO v_kept FROM holdfast_values WHERE name = p_name;
	IF FOUND AND (v_kept.token, v_kept.set_at) >= (p_token, p_set_at) THEN
		RETURN 2 * ((v_kept.token, v_kept.set_at) > (p_token, p_set_at))::integer;
	END IF;
	INSERT INTO holdfast_values (name, token, set_at, value) VALUES (p_name, p_token, p_set_at, p_value)
	ON CONFLICT (name) DO UPDATE SET token = excluded.token, set_at = excluded.set_at, value = excluded.value;
	RETURN 0;
END
$$;
