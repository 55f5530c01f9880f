-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes lines of names in hexadecimal,
-- and for how many microseconds tokens are kept. Returns the names of those that nobody used meanwhile. Values that were
-- removed go with them. It is one transaction, since each costs the server a write to its disk, and waits for no lock's row.
CREATE PROCEDURE holdfast1_retire(p_names LONGTEXT CHARACTER SET ascii, p_keep BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_least BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - p_keep;
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE v_token BIGINT;
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
		SELECT token INTO v_token FROM holdfast_locks WHERE name = v_name AND token < v_least FOR UPDATE SKIP LOCKED;
		-- From here on nobody queues a claim.
		IF v_token IS NOT NULL AND NOT EXISTS (SELECT 1 FROM holdfast_claims WHERE name = v_name) THEN
			DELETE FROM holdfast_locks WHERE name = v_name;
			DELETE FROM holdfast_values WHERE name = v_name AND value = '';
			SELECT v_name;
		END IF;
	END WHILE;
	COMMIT;
END
