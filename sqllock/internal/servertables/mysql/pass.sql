-- Carries out releases that were only noted in the row of the lock, which is locked: takes these claims out of the queue, and
-- grants what is behind them. Takes the name and the token up to which claims were released.
CREATE PROCEDURE holdfast1_pass(p_name VARBINARY(1024), p_released BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_sum, v_limit, v_until BIGINT;
	DECLARE v_waits TINYINT;
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT c.name, c.id, c.token, 1, v_now + c.ttl FROM holdfast_claims c
	WHERE c.name = p_name AND c.granted IN (0, 1) AND c.token <= p_released
	ON DUPLICATE KEY UPDATE
		token = VALUES(token), released = VALUES(released),
		deadline = GREATEST(holdfast_ends.deadline, VALUES(deadline));
	SELECT MAX(e.deadline) INTO v_until FROM holdfast_claims c STRAIGHT_JOIN holdfast_ends e ON e.name = c.name AND e.id = c.id
	WHERE c.name = p_name AND c.granted IN (0, 1) AND c.token <= p_released;
	CALL holdfast1_bar(p_name, v_now, v_until);
	DELETE c FROM holdfast_claims c FORCE INDEX (holdfast_claims_queue)
	WHERE c.name = p_name AND c.granted IN (0, 1) AND c.token <= p_released;
	UPDATE holdfast_locks SET released = 0, noted = 0 WHERE name = p_name;
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
END
