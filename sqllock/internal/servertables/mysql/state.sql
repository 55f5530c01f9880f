-- Answers about a claim that is in its queue. Takes name, token, granted, TTL, revoked, and now. Returns an answer (0),
-- token, granted, TTL, when the claim that blocks it expires if it is the next in line and else 0, whether others wait behind
-- it, and revoked. A deadline that is further ahead than a TTL is brought back when somebody asks, so nobody waits
-- for it: who sees one at the front of the line is told to ask at once. A claim that has room is granted when somebody asks for
-- it, so it is told to do so at once, too. Subqueries cost time even where they are not needed, so each case has statements of
-- its own.
CREATE PROCEDURE holdfast1_state(
	p_name VARBINARY(1024), p_token BIGINT, p_granted TINYINT, p_ttl BIGINT, p_revoked TINYINT, p_now BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_weight, v_units, v_sum, v_least, v_until, v_retry BIGINT DEFAULT 0;
	DECLARE v_front BIGINT; -- when the first in line was renewed
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;

	IF p_granted THEN
		SELECT 0, p_token, 1, p_ttl, 0, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted IN (0, 1) AND token > p_token AND deadline > p_now
		), p_revoked;
	ELSE
		SELECT deadline - ttl INTO v_front
		FROM holdfast_claims WHERE name = p_name AND granted = 0 AND token < p_token AND deadline > p_now
		ORDER BY token LIMIT 1;
		IF v_front IS NOT NULL THEN
			SET v_retry = v_front > p_now; -- asking brings its deadline back
		ELSE
			SELECT weight, units INTO v_weight, v_units
			FROM holdfast_claims WHERE name = p_name AND granted = 0 AND token = p_token;
			SELECT COALESCE(SUM(weight), 0), COALESCE(MIN(units), v_units), COALESCE(MIN(LEAST(deadline, p_now + ttl)), 0)
			INTO v_sum, v_least, v_until FROM holdfast_claims WHERE name = p_name AND granted = 1;
			SET v_retry = IF(v_sum + v_weight <= LEAST(v_least, v_units), 1, GREATEST(1, v_until - p_now));
		END IF;
		SELECT 0, p_token, 0, p_ttl, v_retry, EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > p_token AND deadline > p_now
		), p_revoked;
	END IF;
END
