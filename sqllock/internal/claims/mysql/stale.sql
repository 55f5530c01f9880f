-- Finds locks with claims that have expired. Takes how many, returns a name for each of the claims.
CREATE PROCEDURE holdfast1_stale(p_most BIGINT) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT name FROM holdfast_claims WHERE deadline <= v_now ORDER BY deadline LIMIT p_most;
END
