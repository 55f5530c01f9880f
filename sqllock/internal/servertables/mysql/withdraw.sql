-- Takes a claim out of its queue, whatever it has and whoever shares it, and rings its bells. Where nobody was queued behind
-- it, that grants nothing. Takes and returns what release does.
CREATE PROCEDURE holdfast1_withdraw(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_bells TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_behind, v_released, v_waits TINYINT DEFAULT NULL;
	DECLARE v_answer INT DEFAULT 1;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT c.token, c.ttl, c.deadline, l.token > c.token INTO v_token, v_ttl, v_deadline, v_behind
	FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.id = p_id FOR UPDATE;
	IF v_token IS NULL THEN
		SELECT token, released INTO v_token, v_released FROM holdfast_ends
		WHERE name = p_name AND id = p_id AND deadline > v_now;
		IF v_released AND p_token IN (0, v_token) THEN
			SET v_answer = 0;
		ELSEIF v_released IS NULL AND p_token = 0 THEN
			REPLACE INTO holdfast_ends (name, id, token, released, deadline) VALUES (p_name, p_id, 0, 0, v_now + p_ttl);
			CALL holdfast1_bar(p_name, v_now, v_now + p_ttl);
		END IF;
	ELSEIF v_deadline <= v_now THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_now);
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	ELSEIF p_token IN (0, v_token) THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 1, v_now, v_deadline);
		IF v_behind THEN
			CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		END IF;
		SET v_answer = 0;
	END IF;
	COMMIT;
	IF p_bells > 0 THEN -- after others can see what has changed
		CALL holdfast1_ring(p_id, 'end');
	END IF;
	IF p_bells > 1 THEN
		CALL holdfast1_ring(p_id, 'wait');
	END IF;
	IF v_answer > 0 THEN
		SELECT v_answer;
	END IF;
END
