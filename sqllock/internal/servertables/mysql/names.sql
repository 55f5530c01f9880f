-- Lists locks with live claims. Takes a prefix of their names, returns names.
CREATE PROCEDURE holdfast1_names(p_prefix VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT DISTINCT c.name FROM holdfast_claims c JOIN holdfast_locks l ON l.name = c.name
	WHERE c.name >= p_prefix AND SUBSTRING(c.name, 1, LENGTH(p_prefix)) = p_prefix
		AND c.token > l.released AND c.deadline > v_now;
END
