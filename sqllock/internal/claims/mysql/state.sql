-- Answers about a claim that is in its queue. Takes name, ID, token, granted, and now. Returns an answer (0), token, granted,
-- TTL, when the claim that blocks it expires if it is the next in line and else 0, whether others wait behind it, and revoked.
CREATE PROCEDURE holdfast1_state(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_granted TINYINT, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	SELECT 0, p_token, p_granted, c.ttl,
		CASE WHEN p_granted OR EXISTS (
			SELECT 1 FROM holdfast_claims a
			WHERE a.name = p_name AND a.granted = 0 AND a.token < p_token AND a.deadline > p_now
		) THEN 0 ELSE GREATEST(1, COALESCE((
			SELECT MIN(g.deadline) FROM holdfast_claims g WHERE g.name = p_name AND g.granted = 1
		), 0) - p_now) END,
		EXISTS (
			SELECT 1 FROM holdfast_claims b
			WHERE b.name = p_name AND b.granted = 0 AND b.token > p_token AND b.deadline > p_now
		) OR p_granted AND EXISTS (
			SELECT 1 FROM holdfast_claims b
			WHERE b.name = p_name AND b.granted = 1 AND b.token > p_token AND b.deadline > p_now
		),
		c.revoked
	FROM holdfast_claims c WHERE c.name = p_name AND c.id = p_id;
END
