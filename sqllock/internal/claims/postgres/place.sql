-- Tells where in its queue a claim is. Takes name, token, granted, and now. Returns when the claim that blocks it expires if
-- it is the next in line and else 0, and whether others wait behind it.
CREATE FUNCTION holdfast1_place(
	p_name bytea, p_token bigint, p_granted boolean, p_now bigint, OUT o_retry bigint, OUT o_contended boolean
) LANGUAGE plpgsql AS $$
BEGIN
	o_retry := 0;
	o_contended := EXISTS (
		SELECT FROM holdfast_claims
		WHERE name = p_name AND granted IN (false, p_granted) AND token > p_token AND deadline > p_now
	);
	IF NOT p_granted AND NOT EXISTS (
		SELECT FROM holdfast_claims WHERE name = p_name AND NOT granted AND token < p_token AND deadline > p_now
	) THEN
		o_retry := greatest(1, (SELECT min(deadline) FROM holdfast_claims WHERE name = p_name AND granted) - p_now);
	END IF;
END
$$;
