-- Tells where in its queue a claim is. Takes name, token, granted, and now. Returns when the claim that blocks it expires if
-- it is the next in line and else 0, and whether others wait behind it. A deadline that is further ahead than a TTL is brought
-- back when somebody asks, so nobody waits for it: who sees one at the front of the line is told to ask at once. A claim that
-- has room is granted when somebody asks for it, so it is told to do so at once, too.
CREATE FUNCTION holdfast1_place(
	p_name bytea, p_token bigint, p_granted boolean, p_now bigint, OUT o_retry bigint, OUT o_contended boolean
) LANGUAGE plpgsql AS $$
DECLARE
	v_head  bigint;
	v_claim record;
	v_front record; -- who is ahead: one that waits, or those that are granted
BEGIN
	o_retry := 0;
	o_contended := EXISTS (
		SELECT FROM holdfast_claims
		WHERE name || '' = p_name AND granted IN (false, p_granted) AND token > p_token AND deadline > p_now
	);
	IF p_granted THEN
		RETURN;
	END IF;
	SELECT head INTO v_head FROM holdfast_locks WHERE name = p_name;
	SELECT deadline - ttl > p_now AS early INTO v_front FROM holdfast_claims
	WHERE name || '' = p_name AND NOT granted AND token >= v_head AND token < p_token AND deadline > p_now
	ORDER BY token LIMIT 1;
	IF FOUND THEN
		o_retry := v_front.early::integer; -- asking brings its deadline back
	ELSE
		SELECT weight, units INTO v_claim FROM holdfast_claims WHERE name || '' = p_name AND NOT granted AND token = p_token;
		SELECT coalesce(sum(weight), 0) AS sum, min(units) AS most, min(least(deadline, p_now + ttl)) AS until INTO v_front
		FROM holdfast_claims WHERE name || '' = p_name AND granted AND token >= v_head;
		o_retry := 1;
		IF v_front.sum + v_claim.weight > least(v_front.most, v_claim.units) THEN
			o_retry := greatest(1, v_front.until - p_now);
		END IF;
	END IF;
END
$$;
