-- Begins a transaction that changes a queue, and locks the row of the lock, so that one does so at a time. A row that is
-- missing is made before, by itself: two that make it in longer transactions would wait for each other. What others have
-- committed must be seen, whatever the session's level: a proxy may have dropped that. Takes the name.
CREATE PROCEDURE holdfast1_enter(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_token BIGINT DEFAULT NULL;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SELECT token INTO v_token FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	WHILE v_token IS NULL DO
		ROLLBACK;
		INSERT IGNORE INTO holdfast_locks (name, token) VALUES (p_name, 0);
		SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
		START TRANSACTION;
		SELECT token INTO v_token FROM holdfast_locks WHERE name = p_name FOR UPDATE;
	END WHILE;
END
