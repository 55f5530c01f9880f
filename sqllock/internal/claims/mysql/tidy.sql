-- Takes all dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, returns how many
-- had expired: not those of releases that were only noted.
CREATE PROCEDURE holdfast1_tidy(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_expired, v_token, v_ttl, v_sum, v_limit BIGINT;
	DECLARE v_waits TINYINT;
	DECLARE v_id VARBINARY(64);
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*) INTO v_expired FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name
	WHERE c.name = p_name AND c.deadline <= v_now AND c.token > l.released;
	CALL holdfast1_enter(p_name);
	dead: LOOP
		SET v_id = NULL;
		SELECT id, token, ttl INTO v_id, v_token, v_ttl
		FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token LIMIT 1;
		IF v_id IS NULL THEN
			LEAVE dead;
		END IF;
		CALL holdfast1_finish(p_name, v_id, v_token, v_ttl, 0, v_now, v_now);
	END LOOP;
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	COMMIT;
	SELECT v_expired;
END
