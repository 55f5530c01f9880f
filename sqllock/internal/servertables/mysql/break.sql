-- Ends a claim by force. Takes name and ID. Returns 0, or 1 when there is no such claim.
CREATE PROCEDURE holdfast1_break(p_name VARBINARY(1024), p_id VARBINARY(64)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_token, v_ttl, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT token, ttl, deadline INTO v_token, v_ttl, v_deadline
	FROM holdfast_claims WHERE name = p_name AND id = p_id FOR UPDATE;
	IF v_deadline IS NOT NULL THEN
		CALL holdfast1_finish(p_name, p_id, v_token, v_ttl, 0, v_now, v_deadline);
		CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	END IF;
	COMMIT;
	SELECT IF(v_deadline > v_now, 0, 1);
END
