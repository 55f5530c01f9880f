-- Carries out releases that were only noted in the rows of any of these locks, each in a transaction of its own, and moves claims
-- to the queue that have their locks to themselves and are now left alone, or are to live for a shorter TTL. Takes a JSON
-- array of arrays that begin with name in hexadecimal, ID, token, and TTL, and whether to renew. Returns the names of locks that somebody else has rows of locked, their
-- own or those of claims, with commas between them: it does not wait for these. Which claims have to be changed shows only when
-- that is done, so it looks first at those up to the last that is granted if all live, of 200 at most; a wait for any other lasts
-- for as long as the session allows.
CREATE PROCEDURE holdfast1_passany(p_claims LONGTEXT CHARACTER SET utf8mb4, p_extend TINYINT, OUT o_busy LONGTEXT CHARACTER SET ascii)
SQL SECURITY INVOKER
BEGIN
	DECLARE v_name VARBINARY(1024);
	DECLARE v_released, v_next, v_rows, v_free BIGINT;
	DECLARE v_end TINYINT DEFAULT 0;
	DECLARE noted CURSOR FOR
		SELECT DISTINCT l.name FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (
			name VARCHAR(2048) PATH '$[0]', id VARCHAR(64) PATH '$[1]', ttl BIGINT PATH '$[3]'
		)) t
		STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.name)
		WHERE l.released > 0 OR p_extend AND l.id = CAST(t.id AS BINARY) AND t.ttl < l.ttl; -- below 0 if it is left alone
	DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_end = 1;

	SET o_busy = '';
	OPEN noted;
	each_lock: LOOP
		FETCH noted INTO v_name;
		IF v_end THEN
			LEAVE each_lock;
		END IF;
		SET v_released = NULL, v_rows = 0, v_free = 0;
		SELECT released INTO v_released FROM holdfast_locks WHERE name = v_name FOR UPDATE SKIP LOCKED;
		SET v_end = 0;
		IF v_released IS NOT NULL THEN
			WITH front AS (
				SELECT token, weight, units FROM holdfast_claims
				WHERE name = v_name AND granted = 0 AND token > v_released ORDER BY token LIMIT 200
			), filled AS (
				SELECT token, SUM(weight) OVER (ORDER BY token) AS taken, MIN(units) OVER (ORDER BY token) AS most FROM front
			)
			SELECT COALESCE(MAX(token), v_released) INTO v_next FROM filled WHERE taken <= most;
			SELECT COUNT(*) INTO v_rows FROM holdfast_claims
			WHERE name = v_name AND granted IN (0, 1) AND token <= v_next;
			SELECT COUNT(*) INTO v_free FROM holdfast_claims
			WHERE name = v_name AND granted IN (0, 1) AND token <= v_next FOR UPDATE SKIP LOCKED;
		END IF;
		IF v_released IS NULL OR v_free < v_rows THEN
			SET o_busy = CONCAT(o_busy, LOWER(HEX(v_name)), ',');
		ELSE
			BEGIN
				DECLARE EXIT HANDLER FOR 1205 -- ER_LOCK_WAIT_TIMEOUT
				BEGIN
					ROLLBACK;
					SET o_busy = CONCAT(o_busy, LOWER(HEX(v_name)), ',');
				END;
				CALL holdfast1_enter(v_name);
				COMMIT;
			END;
		END IF;
	END LOOP;
	CLOSE noted;
END
