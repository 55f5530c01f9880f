-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes lines of names in hexadecimal,
-- and for how many microseconds tokens are kept. Returns the names of those that nobody used meanwhile. Values that were
-- removed go with them, and what was released last stays barred. It is one transaction, since each costs the server a write to its disk, and waits for no lock's row.
CREATE PROCEDURE holdfast1_retire(p_names LONGTEXT CHARACTER SET ascii, p_keep BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DECLARE v_least BIGINT DEFAULT v_now - p_keep;
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE v_token, v_under, v_barred BIGINT;
	DECLARE v_ended VARBINARY(64);
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	WHILE p_names <> '' DO
		SET v_line = SUBSTRING_INDEX(p_names, '\n', 1);
		SET p_names = SUBSTRING(p_names, LENGTH(v_line) + 2);
		SET v_name = UNHEX(v_line), v_token = NULL;
		SELECT token, ended, under, barred INTO v_token, v_ended, v_under, v_barred
		FROM holdfast_locks WHERE name = v_name AND token < v_least AND id = '' FOR UPDATE SKIP LOCKED;
		-- From here on nobody queues a claim.
		IF v_token IS NOT NULL AND NOT EXISTS (SELECT 1 FROM holdfast_claims WHERE name = v_name) THEN
			IF v_ended <> '' AND v_barred > v_now THEN
				REPLACE INTO holdfast_ends (name, id, token, released, deadline) VALUES (v_name, v_ended, v_under, 1, v_barred);
			END IF;
			DELETE FROM holdfast_locks WHERE name = v_name;
			DELETE FROM holdfast_values WHERE name = v_name AND value = '';
			SELECT v_name;
		END IF;
	END WHILE;
	COMMIT;
END
