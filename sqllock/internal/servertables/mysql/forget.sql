-- Forgets claims that ended long enough ago. Takes how many, returns how many it were.
CREATE PROCEDURE holdfast1_forget(p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	DELETE FROM holdfast_ends WHERE deadline <= v_now ORDER BY deadline LIMIT p_most;
	SELECT ROW_COUNT();
END
