-- Takes dead claims of a lock out of its queue, and grants what that makes grantable. Takes the name, and how many to take out
-- at most. Returns how many had expired of those that were taken out: not those of releases that were only noted.
CREATE PROCEDURE holdfast1_tidy(p_name VARBINARY(1024), p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now, v_expired, v_until, v_sum, v_limit BIGINT;
	DECLARE v_waits TINYINT;
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;

	CALL holdfast1_enter(p_name);
	SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT COUNT(*) INTO v_expired FROM (
		SELECT 1 FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token LIMIT p_most
	) e;
	INSERT INTO holdfast_ends (name, id, token, released, deadline)
	SELECT c.name, c.id, c.token, 0, v_now + c.ttl FROM holdfast_claims c
	WHERE c.name = p_name AND c.deadline <= v_now ORDER BY c.token LIMIT p_most FOR UPDATE
	ON DUPLICATE KEY UPDATE
		token = VALUES(token), released = VALUES(released),
		deadline = GREATEST(holdfast_ends.deadline, VALUES(deadline));
	SELECT MAX(e.deadline) INTO v_until FROM holdfast_claims c STRAIGHT_JOIN holdfast_ends e ON e.name = c.name AND e.id = c.id
	WHERE c.name = p_name AND c.deadline <= v_now;
	CALL holdfast1_bar(p_name, v_now, v_until);
	DELETE FROM holdfast_claims WHERE name = p_name AND deadline <= v_now ORDER BY token LIMIT p_most;
	CALL holdfast1_settle(p_name, v_now, v_sum, v_limit, v_waits);
	COMMIT;
	SELECT v_expired;
END
