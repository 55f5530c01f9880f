-- Forgets the tokens of locks that were not used for long: the clock has overtaken them. Takes for how long in
-- microseconds, and how many at most; returns their names.
CREATE PROCEDURE holdfast1_retire(p_keep BIGINT, p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_least BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - p_keep;
	DECLARE v_count BIGINT DEFAULT 0;
	DECLARE v_name, v_last VARBINARY(1024) DEFAULT '';
	DECLARE v_token BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	unused: LOOP
		SET v_name = NULL;
		SELECT name INTO v_name FROM holdfast_locks l
		WHERE name > v_last AND token < v_least
			AND NOT EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = l.name)
		ORDER BY name LIMIT 1;
		IF v_name IS NULL OR v_count >= p_most THEN
			LEAVE unused;
		END IF;
		CALL holdfast1_enter(v_name); -- from here on nobody queues a claim
		DELETE FROM holdfast_locks WHERE name = v_name AND token < v_least;
		IF ROW_COUNT() > 0 THEN
			SET v_count = v_count + 1;
			SELECT v_name;
		END IF;
		COMMIT;
		SET v_last = v_name;
	END LOOP;
END
