-- Answers about a claim that is in its queue. Takes name, token, granted, TTL, revoked, and now. Returns an answer (0),
-- token, granted, TTL, when the claim that blocks it expires if it is the next in line and else 0, whether others wait behind
-- it, and revoked. Subqueries cost time even where they are not needed, so each case has a statement of its own.
CREATE PROCEDURE holdfast1_state(
	p_name VARBINARY(1024), p_token BIGINT, p_granted TINYINT, p_ttl BIGINT, p_revoked TINYINT, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	IF p_granted THEN
		SELECT 0, p_token, 1, p_ttl, 0, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted IN (0, 1) AND token > p_token AND deadline > p_now
		), p_revoked;
	ELSE
		SELECT 0, p_token, 0, p_ttl, CASE WHEN EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token < p_token AND deadline > p_now
		) THEN 0 ELSE GREATEST(1, COALESCE((
			SELECT MIN(deadline) FROM holdfast_claims WHERE name = p_name AND granted = 1
		), 0) - p_now) END, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > p_token AND deadline > p_now
		), p_revoked;
	END IF;
END
