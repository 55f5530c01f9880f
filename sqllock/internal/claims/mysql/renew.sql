-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, and 1 to hang up the
-- claim's bells, with spaces between them and sorted by name and token, and whether to renew. Returns for each line an
-- answer (0 the state follows, 1 gone) and the state.
CREATE PROCEDURE holdfast1_renew(p_claims LONGTEXT CHARACTER SET ascii, p_extend TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_ttl, v_now, v_found BIGINT;
	DECLARE v_granted, v_shares, v_revoked TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	WHILE p_claims <> '' DO
		SET v_line = SUBSTRING_INDEX(p_claims, '\n', 1);
		SET p_claims = SUBSTRING(p_claims, LENGTH(v_line) + 2);
		SET v_name = UNHEX(SUBSTRING_INDEX(v_line, ' ', 1));
		SET v_id = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 2), ' ', -1);
		SET v_token = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 3), ' ', -1);
		SET v_ttl = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 4), ' ', -1);
		IF EXISTS (SELECT 1 FROM holdfast_locks WHERE name = v_name AND released > 0) THEN
			COMMIT; -- so that nobody waits for what was done so far
			CALL holdfast1_enter(v_name);
		END IF;
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
		IF p_extend THEN
			UPDATE holdfast_claims SET ttl = v_ttl, deadline = v_now + v_ttl
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
		END IF;
		SET v_found = NULL;
		SELECT token, granted, granted = 0 AND weight < units, ttl, revoked
		INTO v_found, v_granted, v_shares, v_ttl, v_revoked FROM holdfast_claims
		WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token);
		IF v_found IS NULL THEN
			SELECT 1, 0, 0, 0, 0, 0, 0;
		ELSE
			IF SUBSTRING_INDEX(v_line, ' ', -1) = '1' THEN
				CALL holdfast1_hang(v_id, v_shares);
			END IF;
			CALL holdfast1_state(v_name, v_found, v_granted, v_ttl, v_revoked, v_now);
		END IF;
	END WHILE;
	COMMIT;
END
