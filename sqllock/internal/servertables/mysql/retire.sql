-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes lines of names in hexadecimal,
-- and for how many microseconds tokens are kept. Returns the names of those that nobody used meanwhile. Values that were
-- removed go with them.
CREATE PROCEDURE holdfast1_retire(p_names LONGTEXT CHARACTER SET ascii, p_keep BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_least BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - p_keep;
	DECLARE v_line TEXT CHARACTER SET ascii;
	DECLARE v_name VARBINARY(1024);
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	WHILE p_names <> '' DO
		SET v_line = SUBSTRING_INDEX(p_names, '\n', 1);
		SET p_names = SUBSTRING(p_names, LENGTH(v_line) + 2);
		SET v_name = UNHEX(v_line);
		IF EXISTS (SELECT 1 FROM holdfast_locks WHERE name = v_name AND token < v_least) THEN
			CALL holdfast1_enter(v_name); -- from here on nobody queues a claim
			DELETE FROM holdfast_locks WHERE name = v_name AND token < v_least
				AND NOT EXISTS (SELECT 1 FROM holdfast_claims WHERE name = v_name);
			IF ROW_COUNT() > 0 THEN
				DELETE FROM holdfast_values WHERE name = v_name AND value = '';
				SELECT v_name;
			END IF;
			COMMIT;
		END IF;
	END WHILE;
END
