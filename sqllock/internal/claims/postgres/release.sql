-- Takes a claim out of its queue, and rings its bells. Takes name, ID, token or 0, TTL, and how many bells it has in
-- this session: the first is for its end, the second for its grant. Returns 0, or 1 when it had ended otherwise.
CREATE FUNCTION holdfast1_release(p_name bytea, p_id text, p_token bigint, p_ttl bigint, p_bells bigint)
RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	v_now    bigint;
	v_claim  record;
	v_answer integer := 1;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	WITH taken AS (
		DELETE FROM holdfast_claims
		WHERE name = p_name AND id = p_id AND token = p_token AND deadline > v_now AND granted AND weight = units
		RETURNING ttl
	)
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT p_name, p_id, p_token, true, v_now + ttl FROM taken
	ON CONFLICT (name, id) DO UPDATE
	SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
	IF FOUND THEN -- nobody held it together with this claim
		PERFORM holdfast1_grant(p_name, v_now, p_token, 0, 2147483647);
		v_answer := 0;
	ELSE
		SELECT token, deadline INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
		IF NOT FOUND THEN
			SELECT token, released INTO v_claim FROM holdfast_ends WHERE name = p_name AND id = p_id AND deadline > v_now;
			IF FOUND AND v_claim.released AND p_token IN (0, v_claim.token) THEN
				v_answer := 0;
			ELSIF NOT FOUND AND p_token = 0 THEN
				INSERT INTO holdfast_ends (name, id, token, released, deadline)
				VALUES (p_name, p_id, 0, false, v_now + p_ttl)
				ON CONFLICT (name, id) DO UPDATE
				SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
			END IF;
		ELSIF v_claim.deadline <= v_now THEN
			PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_now);
			PERFORM holdfast1_settle(p_name, v_now);
		ELSIF p_token IN (0, v_claim.token) THEN
			PERFORM holdfast1_finish(p_name, p_id, true, v_now, v_claim.deadline);
			PERFORM holdfast1_settle(p_name, v_now);
			v_answer := 0;
		END IF;
	END IF;
	IF p_bells > 0 THEN
		PERFORM holdfast1_ring(p_id, 'end');
	END IF;
	IF p_bells > 1 THEN
		PERFORM holdfast1_ring(p_id, 'wait');
	END IF;
	RETURN v_answer;
END
$$;
