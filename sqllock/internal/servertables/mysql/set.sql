-- Sets what a lock keeps between its holders. Takes name, ID and token of a claim, then token, time and value. Returns 0, 1
-- when there is no such claim or it is not granted, or 2 when the value was set after that already.
CREATE PROCEDURE holdfast1_set(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_claim BIGINT, p_token BIGINT, p_set_at BIGINT, p_value MEDIUMBLOB
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_deadline, v_sum, v_limit, v_token, v_set_at BIGINT DEFAULT NULL;
	DECLARE v_waits TINYINT;
	DECLARE v_answer INT DEFAULT 0;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	SELECT deadline INTO v_deadline FROM holdfast_claims
	WHERE name = p_name AND id = p_id AND token = p_claim AND granted = 1 AND deadline > v_now FOR UPDATE;
	IF v_deadline IS NULL THEN
		SET v_answer = 1;
	ELSE
		SELECT token, set_at INTO v_token, v_set_at FROM holdfast_values WHERE name = p_name FOR UPDATE;
		IF v_token > p_token OR v_token = p_token AND v_set_at > p_set_at THEN
			SET v_answer = 2;
		ELSEIF v_token IS NULL OR v_token < p_token OR v_set_at < p_set_at THEN
			REPLACE INTO holdfast_values (name, token, set_at, value) VALUES (p_name, p_token, p_set_at, p_value);
		END IF;
	END IF;
	COMMIT;
	SELECT v_answer;
END
