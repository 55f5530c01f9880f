-- Begins a transaction that changes a queue, and locks the row of the lock, so that one does so at a time. A row that is
-- missing is made before, by itself: two that make it in longer transactions would wait for each other. What others have
-- committed must be seen, whatever the session's level: a proxy may have dropped that. A release that was only noted is
-- carried out first, and a claim that has the lock to itself is moved to the queue. Takes the name.
-- Whoever changes a queue reads the clock after this, because it may wait for the row while deadlines pass.
CREATE PROCEDURE holdfast1_enter(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_released BIGINT DEFAULT NULL;
	DECLARE v_spills TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SELECT released, id <> '' OR ended <> '' INTO v_released, v_spills FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	WHILE v_released IS NULL DO
		ROLLBACK;
		INSERT IGNORE INTO holdfast_locks (name, token, released, barred)
		SELECT p_name, 0, 0, COALESCE(MAX(deadline), 0) FROM holdfast_ends WHERE name = p_name;
		SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
		START TRANSACTION;
		SELECT released, id <> '' OR ended <> '' INTO v_released, v_spills FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	END WHILE;
	IF v_spills THEN
		CALL holdfast1_spill(p_name);
	END IF;
	IF v_released > 0 THEN
		CALL holdfast1_pass(p_name, v_released);
	END IF;
END
