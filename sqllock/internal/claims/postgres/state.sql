-- Answers about a claim that is in its queue. Takes name, ID and now. Returns token, granted, TTL, when the claim that
-- blocks it expires if it is the next in line and else 0, whether others wait behind it, and revoked.
CREATE FUNCTION holdfast1_state(p_name bytea, p_id text, p_now bigint)
RETURNS TABLE (token bigint, granted boolean, ttl bigint, retry bigint, contended boolean, revoked boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT c.token, c.granted, c.ttl,
		CASE WHEN c.granted OR EXISTS (
			SELECT FROM holdfast_claims a
			WHERE a.name = p_name AND NOT a.granted AND a.token < c.token AND a.deadline > p_now
		) THEN 0 ELSE greatest(1, (
			SELECT min(g.deadline) FROM holdfast_claims g WHERE g.name = p_name AND g.granted
		) - p_now) END,
		EXISTS (
			SELECT FROM holdfast_claims b
			WHERE b.name = p_name AND NOT b.granted AND b.token > c.token AND b.deadline > p_now
		) OR c.granted AND EXISTS (
			SELECT FROM holdfast_claims b
			WHERE b.name = p_name AND b.granted AND b.token > c.token AND b.deadline > p_now
		),
		c.revoked
	FROM holdfast_claims c WHERE c.name = p_name AND c.id = p_id;
END
$$;
