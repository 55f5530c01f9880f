-- Notes in the row of a lock, which is locked, until when a claim is barred that has ended. It notes a later time than that, so
-- that it need not be written for each claim. Takes name, now, and until when.
CREATE PROCEDURE holdfast1_bar(p_name VARBINARY(1024), p_now BIGINT, p_until BIGINT) SQL SECURITY INVOKER
BEGIN
	UPDATE holdfast_locks SET barred = 2 * p_until - p_now WHERE name = p_name AND barred < p_until;
END
