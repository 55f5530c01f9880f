-- Lists locks with live claims. Takes a prefix of their names, returns names.
CREATE PROCEDURE holdfast1_names(p_prefix VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
	SELECT DISTINCT name FROM holdfast_claims
	WHERE name >= p_prefix AND SUBSTRING(name, 1, LENGTH(p_prefix)) = p_prefix AND deadline > v_now;
END
