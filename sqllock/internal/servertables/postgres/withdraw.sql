-- Takes a claim out of its queue, whatever it has and whoever shares it. Where nobody was queued behind it, that grants
-- nothing. Takes name, ID, token or 0, and TTL. Returns what release does.
CREATE FUNCTION holdfast1_withdraw(p_name bytea, p_id text, p_token bigint, p_ttl bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
	v_now    bigint;
	v_claim  record;
	v_answer integer := 1;
BEGIN
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT c.token, c.deadline, l.token > c.token AS behind INTO v_claim
	FROM holdfast_locks l, holdfast_claims c WHERE l.name = p_name AND c.name = p_name AND c.id = p_id FOR UPDATE OF c;
	IF NOT FOUND THEN
		SELECT token, released INTO v_claim FROM holdfast_ends WHERE name = p_name AND id = p_id AND deadline - v_now > 0;
		IF FOUND AND v_claim.released AND p_token IN (0, v_claim.token) THEN
			v_answer := 0;
		ELSIF NOT FOUND AND p_token = 0 THEN
			INSERT INTO holdfast_ends (name, id, token, released, deadline)
			VALUES (p_name, p_id, 0, false, v_now + p_ttl)
			ON CONFLICT (name, id) DO UPDATE
			SET token = excluded.token, released = excluded.released, deadline = excluded.deadline;
			PERFORM holdfast1_bar(p_name, v_now, v_now + p_ttl);
		END IF;
	ELSIF v_claim.deadline <= v_now THEN
		PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_now);
		PERFORM holdfast1_settle(p_name, v_now);
	ELSIF p_token IN (0, v_claim.token) THEN
		PERFORM holdfast1_finish(p_name, p_id, true, v_now, v_claim.deadline);
		IF v_claim.behind THEN
			PERFORM holdfast1_settle(p_name, v_now);
		END IF;
		v_answer := 0;
	END IF;
	RETURN v_answer;
END
$$;
