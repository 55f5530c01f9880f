-- Asks a holder to let go. Takes name and ID. Returns 0, or 1 when there is no such claim or it is not granted.
CREATE PROCEDURE holdfast1_revoke(p_name VARBINARY(1024), p_id VARBINARY(64)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_deadline, v_sum, v_limit BIGINT DEFAULT NULL;
	DECLARE v_waits TINYINT;
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
	WHERE name = p_name AND id = p_id AND granted = 1 AND deadline > v_now FOR UPDATE;
	IF v_deadline IS NOT NULL THEN
		UPDATE holdfast_claims SET revoked = 1 WHERE name = p_name AND id = p_id;
	END IF;
	COMMIT;
	SELECT v_deadline IS NULL;
END
