-- Takes claims that have expired out of a queue, whose row is locked, and bars their IDs: of those that are granted any, and
-- of those that wait the ones ahead of all that live. Takes name, now, which of both, a token that theirs are greater than, and how
-- many to look at. Returns how many there were, how many of them it has taken, since one may have been renewed meanwhile, and
-- the last token.
CREATE PROCEDURE holdfast1_bury(
	p_name VARBINARY(1024), p_now BIGINT, p_granted TINYINT, p_after BIGINT, p_most BIGINT,
	OUT o_dead BIGINT, OUT o_taken BIGINT, OUT o_last BIGINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_live, v_until BIGINT;
	SELECT MIN(token) INTO v_live FROM (
		SELECT token, deadline FROM holdfast_claims FORCE INDEX (holdfast_claims_queue)
		WHERE name = p_name AND granted = p_granted AND NOT p_granted AND token > p_after ORDER BY token LIMIT p_most
	) page WHERE deadline > p_now;
	SELECT COUNT(*), COALESCE(MAX(token), p_after) INTO o_dead, o_last FROM (
		SELECT token FROM holdfast_claims FORCE INDEX (holdfast_claims_queue)
		WHERE name = p_name AND granted = p_granted AND token > p_after AND token < COALESCE(v_live, 9223372036854775807)
			AND deadline <= p_now
		ORDER BY token LIMIT p_most
	) page;
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT c.name, c.id, c.token, 0, p_now + c.ttl FROM holdfast_claims c FORCE INDEX (holdfast_claims_queue)
	WHERE c.name = p_name AND c.granted = p_granted AND c.token > p_after AND c.token <= o_last AND c.deadline <= p_now FOR UPDATE
	ON DUPLICATE KEY UPDATE
		token = VALUES(token), released = VALUES(released),
		deadline = GREATEST(holdfast_ends.deadline, VALUES(deadline));
	SELECT MAX(e.deadline) INTO v_until FROM holdfast_claims c FORCE INDEX (holdfast_claims_queue)
	STRAIGHT_JOIN holdfast_ends e ON e.name = c.name AND e.id = c.id
	WHERE c.name = p_name AND c.granted = p_granted AND c.token > p_after AND c.token <= o_last AND c.deadline <= p_now;
	CALL holdfast1_bar(p_name, p_now, v_until);
	DELETE c FROM holdfast_claims c FORCE INDEX (holdfast_claims_queue)
	WHERE c.name = p_name AND c.granted = p_granted AND c.token > p_after AND c.token <= o_last AND c.deadline <= p_now;
	SET o_taken = ROW_COUNT();
END
