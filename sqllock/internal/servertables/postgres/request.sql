-- Queues a claim, or renews it when it is queued. Takes the claim, its TTL being negative if it is left alone, whether it
-- stays in the queue when it has to wait, whether to hang up its bells (0 no, 1 unless it has the lock to itself, 2 always), and
-- between what the IDs of its series are; for an ID of none that is the ID, twice. Returns an answer (0 the state follows, 1 gone,
-- 2 not queued, 4 it has the lock to itself: the state follows, 5 the same, though the lock had no row or one to be put in order)
-- and the state. Where there are too many dead claims ahead for one call, retry is a microsecond: the next call goes on.
CREATE FUNCTION holdfast1_request(
	p_name bytea, p_id text, p_token bigint, p_weight bigint, p_units bigint, p_ttl bigint, p_stay boolean,
	p_owner bytea, p_value bytea, p_bells integer, p_before text, p_last text
)
RETURNS TABLE (answer integer, token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
	v_now   bigint := holdfast1_now();
	v_alone boolean := p_ttl < 0;
	v_claim record;
	v_front record;
	v_more  boolean := false; -- settling took more than one call
BEGIN
	IF p_token = 0 AND NOT v_alone THEN
		UPDATE holdfast_locks SET token = greatest(token + 1, v_now), id = p_id, weight = p_weight, units = p_units, ttl = p_ttl,
			deadline = v_now + p_ttl, since = v_now, owner = p_owner, value = p_value
		WHERE name = p_name AND id = '' AND NOT queued AND released = 0
			AND (barred <= v_now OR ended > p_before AND ended < p_id)
		RETURNING holdfast_locks.token INTO token;
		IF FOUND THEN
			IF p_bells > 1 THEN
				PERFORM holdfast1_hang(p_id, false);
			END IF;
			RETURN QUERY SELECT 4, token, true, p_ttl, 0::bigint, false, false;
			RETURN;
		END IF;
	END IF;
	answer := 0;
	p_ttl := abs(p_ttl);
	PERFORM holdfast1_enter(p_name);
	v_now := holdfast1_now();
	SELECT token, ttl, deadline, detached INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF FOUND AND v_claim.deadline <= v_now THEN
		PERFORM holdfast1_settle(p_name, v_now);
		PERFORM holdfast1_finish(p_name, p_id, false, v_now, v_now);
		answer := 1;
	ELSIF FOUND AND p_token NOT IN (0, v_claim.token) THEN
		answer := 1;
	ELSIF FOUND AND v_claim.detached AND NOT v_alone THEN -- it was left alone since this was sent
		p_ttl := least(v_claim.ttl, v_claim.deadline - v_now);
		PERFORM holdfast1_settle(p_name, v_now);
	ELSIF FOUND THEN
		IF p_ttl < v_claim.ttl THEN
			PERFORM holdfast1_shorten(p_name, p_id, v_claim.ttl, p_ttl, v_now);
		END IF;
		UPDATE holdfast_claims SET ttl = p_ttl, deadline = v_now + p_ttl, detached = v_alone
		WHERE name = p_name AND id = p_id;
		SELECT * INTO v_front FROM holdfast1_settle(p_name, v_now);
		v_more := v_front.o_waits IS NULL;
	ELSIF p_token <> 0 OR EXISTS (
		SELECT FROM holdfast_ends WHERE name = p_name AND id BETWEEN p_id AND p_last AND deadline - v_now > 0
	) THEN
		answer := 1;
	ELSE
		SELECT * INTO v_front FROM holdfast1_settle(p_name, v_now);
		v_more := v_front.o_waits IS NULL;
		granted := v_front.o_waits IS FALSE AND v_front.o_sum + p_weight <= least(v_front.o_limit, p_units);
		IF granted AND v_front.o_sum = 0 AND NOT v_alone THEN -- it has the lock to itself
			UPDATE holdfast_locks SET token = greatest(token + 1, v_now), head = greatest(token + 1, v_now), queued = false,
				id = p_id, weight = p_weight, units = p_units, ttl = p_ttl, deadline = v_now + p_ttl, since = v_now,
				owner = p_owner, value = p_value
			WHERE name = p_name RETURNING holdfast_locks.token INTO token;
			IF p_bells > 1 THEN
				PERFORM holdfast1_hang(p_id, false);
			END IF;
			RETURN QUERY SELECT 5, token, true, p_ttl, 0::bigint, false, false;
			RETURN;
		ELSIF granted OR p_stay THEN
			UPDATE holdfast_locks SET token = greatest(token + 1, v_now), queued = true,
				head = CASE WHEN v_front.o_waits IS FALSE AND v_front.o_sum = 0 THEN greatest(token + 1, v_now) ELSE head END
			WHERE name = p_name RETURNING holdfast_locks.token INTO token;
			INSERT INTO holdfast_claims
				(name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value, detached)
			VALUES
				(p_name, p_id, token, p_weight, p_units, p_ttl, v_now + p_ttl, v_now, granted, false, p_owner, p_value, v_alone);
		ELSE
			answer := 2;
			retry := v_more::integer;
		END IF;
	END IF;
	IF answer > 0 THEN
		RETURN QUERY SELECT answer, 0::bigint, false, 0::bigint, coalesce(retry, 0), false, false;
		RETURN;
	END IF;
	IF token IS NOT NULL AND granted THEN -- it is new, so nobody is behind it
		RETURN QUERY SELECT 0, token, true, p_ttl, 0::bigint, false, false;
	ELSE
		SELECT * INTO v_claim FROM holdfast_claims WHERE name = p_name AND id = p_id;
		granted := v_claim.granted;
		IF v_more AND NOT granted THEN
			retry := 1;
			contended := false;
		ELSE
			SELECT * INTO retry, contended FROM holdfast1_place(p_name, v_claim.token, granted, v_now);
		END IF;
		RETURN QUERY SELECT 0, v_claim.token, granted, p_ttl, retry, contended, v_claim.revoked;
	END IF;
	IF p_bells > 0 THEN
		PERFORM holdfast1_hang(p_id, NOT granted AND p_weight < p_units);
	END IF;
END
$$;
