-- Renews claims, or only looks at them. Takes lines of name in hexadecimal, ID, token or 0, TTL, which is negative if the
-- claim is left alone, and 1 to hang up the claim's bells, with spaces between them and sorted by name and token, and whether
-- to renew. Returns for each line an answer (0 the state follows, 1 gone, 3 nothing is known) and the state. Where somebody
-- has a row locked it does not wait, since the other claims have nothing to do with that: of this one nothing is known.
CREATE PROCEDURE holdfast1_renew(p_claims LONGTEXT CHARACTER SET ascii, p_extend TINYINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE v_id VARBINARY(64);
	DECLARE v_token, v_ttl, v_had, v_now, v_found, v_there, v_noted BIGINT;
	DECLARE v_granted, v_shares, v_revoked, v_alone TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	each_claim: WHILE p_claims <> '' DO
		SET v_line = SUBSTRING_INDEX(p_claims, '\n', 1);
		SET p_claims = SUBSTRING(p_claims, LENGTH(v_line) + 2);
		SET v_name = UNHEX(SUBSTRING_INDEX(v_line, ' ', 1));
		SET v_id = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 2), ' ', -1);
		SET v_token = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 3), ' ', -1);
		SET v_ttl = SUBSTRING_INDEX(SUBSTRING_INDEX(v_line, ' ', 4), ' ', -1);
		SET v_alone = v_ttl < 0, v_ttl = ABS(v_ttl);
		SET v_noted = NULL; -- by SELECT: what IF asks for waits for rows that are locked
		SELECT released INTO v_noted FROM holdfast_locks WHERE name = v_name;
		IF v_noted > 0 THEN
			COMMIT; -- so that nobody waits for what was done so far
			SET v_found = NULL;
			SELECT token INTO v_found FROM holdfast_locks WHERE name = v_name FOR UPDATE SKIP LOCKED;
			IF v_found IS NULL THEN
				SELECT 3, 0, 0, 0, 0, 0, 0;
				ITERATE each_claim;
			END IF;
			CALL holdfast1_enter(v_name);
		END IF;
		SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
		IF p_extend THEN
			SET v_found = NULL, v_there = NULL;
			SELECT token, ttl INTO v_found, v_had FROM holdfast_claims WHERE name = v_name AND id = v_id FOR UPDATE SKIP LOCKED;
			SELECT token INTO v_there FROM holdfast_claims WHERE name = v_name AND id = v_id;
			IF v_found IS NULL AND v_there IS NOT NULL THEN
				SELECT 3, 0, 0, 0, 0, 0, 0;
				ITERATE each_claim;
			END IF;
			UPDATE holdfast_claims SET ttl = v_ttl, deadline = v_now + v_ttl, detached = v_alone
			WHERE name = v_name AND id = v_id AND deadline > v_now AND v_token IN (0, token) AND (v_alone OR NOT detached);
			IF ROW_COUNT() > 0 THEN
				CALL holdfast1_shorten(v_name, v_id, v_had, v_ttl, v_now);
			END IF;
		END IF;
		SET v_found = NULL;
		SELECT token, granted, granted = 0 AND weight < units,
			IF(p_extend AND detached AND NOT v_alone, deadline - v_now, ttl), revoked -- it may have been left alone since this was sent
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
