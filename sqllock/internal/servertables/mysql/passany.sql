-- Carries out releases that were only noted in the rows of any of these locks, each in a transaction of its own. Takes a JSON
-- array of arrays that begin with a name in hexadecimal. Returns the names of locks whose rows somebody else has locked, with
-- commas between them: it does not wait for these.
CREATE PROCEDURE holdfast1_passany(p_claims LONGTEXT CHARACTER SET utf8mb4, OUT o_busy LONGTEXT CHARACTER SET ascii)
SQL SECURITY INVOKER
BEGIN
	DECLARE v_name VARBINARY(1024);
	DECLARE v_free BIGINT;
	DECLARE v_end TINYINT DEFAULT 0;
	DECLARE noted CURSOR FOR
		SELECT DISTINCT l.name FROM JSON_TABLE(p_claims, '$[*]' COLUMNS (name VARCHAR(2048) PATH '$[0]')) t
		STRAIGHT_JOIN holdfast_locks l ON l.name = UNHEX(t.name) WHERE l.released > 0;
	DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_end = 1;

	SET o_busy = '';
	OPEN noted;
	each_lock: LOOP
		FETCH noted INTO v_name;
		IF v_end THEN
			LEAVE each_lock;
		END IF;
		SET v_free = NULL;
		SELECT token INTO v_free FROM holdfast_locks WHERE name = v_name FOR UPDATE SKIP LOCKED;
		SET v_end = 0;
		IF v_free IS NULL THEN
			SET o_busy = CONCAT(o_busy, LOWER(HEX(v_name)), ',');
		ELSE
			CALL holdfast1_enter(v_name);
			COMMIT;
		END IF;
	END LOOP;
	CLOSE noted;
END
