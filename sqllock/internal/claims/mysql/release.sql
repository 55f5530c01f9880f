-- Takes a claim that has its lock to itself out of the queue, and grants the next one; any other in the longer way, withdraw.
-- Takes name, ID, token or 0, TTL, and how many bells it has in this session: the first is for its end, the second for its
-- grant. Returns 0, or 1 when it had ended otherwise. The bell rings before anything is changed: who sleeps on it wakes up
-- meanwhile, and waits for the row of the lock.
CREATE PROCEDURE holdfast1_release(
	p_name VARBINARY(1024), p_id VARBINARY(64), p_token BIGINT, p_ttl BIGINT, p_bells TINYINT
) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_deadline, v_sum, v_limit BIGINT;
	DECLARE v_waits TINYINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
	START TRANSACTION;
	SELECT c.deadline INTO v_deadline FROM holdfast_locks l STRAIGHT_JOIN holdfast_claims c
	WHERE l.name = p_name AND c.name = p_name AND c.id = p_id AND c.token = p_token AND c.granted = 1 AND c.weight = c.units
	FOR UPDATE;
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	IF v_deadline > v_now THEN
		IF p_bells > 0 THEN
			CALL holdfast1_ring(p_id, 'end');
		END IF;
		DO LAST_INSERT_ID(0); -- what it is given last: 0 if nobody waits, 1 for who has all of the lock now, 2 for another
		UPDATE holdfast_claims SET granted = LAST_INSERT_ID(IF(weight = units AND deadline > v_now, 1, 2)) = 1
		WHERE name = p_name AND granted = 0 ORDER BY token LIMIT 1;
		DELETE FROM holdfast_claims WHERE name = p_name AND id = p_id;
		IF LAST_INSERT_ID() = 2 THEN
			CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
		END IF;
		REPLACE INTO holdfast_ends (name, id, token, released, deadline) VALUES (p_name, p_id, p_token, 1, v_now + p_ttl);
		COMMIT;
		SELECT 0;
	ELSE
		ROLLBACK;
		CALL holdfast1_withdraw(p_name, p_id, p_token, p_ttl, p_bells);
	END IF;
END
