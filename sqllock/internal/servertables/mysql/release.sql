-- Releases a claim. One that has the lock to itself is in the row of the lock, which keeps its ID. One that has it with others
-- behind it stays where it is, and its release is only noted in that row: from then on it has ended, and the next one has the lock,
-- though its row does not say so yet. Whoever enters the queue next carries that out; 200 are noted at most, so that this does not
-- take long. The clock may be read before the row is locked: the claim is over either way. Any other claim goes the longer way,
-- withdraw. Takes name, ID, token or 0, TTL, and how many bells it has in this session: the first is for its end, the second for
-- its grant. Returns nothing, or 1 when it had ended otherwise.
CREATE PROCEDURE holdfast1_release(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_bells TINYINT
) SQL SECURITY INVOKER
whole: BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	UPDATE holdfast_locks SET ended = id, under = token, barred = GREATEST(barred, v_now + ttl), id = ''
	WHERE name = p_name AND id = p_id AND token = p_token AND deadline > v_now;
	IF ROW_COUNT() > 0 THEN
		IF p_bells > 0 THEN
			CALL holdfast1_ring(p_id, 'end');
		END IF;
		LEAVE whole;
	END IF;
	UPDATE holdfast_locks l STRAIGHT_JOIN holdfast_claims c SET l.released = p_token, l.noted = l.noted + 1
	WHERE l.name = p_name AND l.token > p_token AND l.released < p_token AND l.noted < 200
		AND c.name = p_name AND c.id = p_id AND c.token = p_token AND c.weight = c.units
		AND c.deadline > v_now
		AND (c.granted OR l.released > 0 AND NOT EXISTS (
			SELECT 1 FROM holdfast_claims
			WHERE name = p_name AND granted = 0 AND token > l.released AND token < p_token
		));
	IF ROW_COUNT() = 0 THEN
		CALL holdfast1_withdraw(p_name, p_id, p_token, p_ttl, p_bells);
	ELSEIF p_bells > 0 THEN
		CALL holdfast1_ring(p_id, 'end');
	END IF;
END
