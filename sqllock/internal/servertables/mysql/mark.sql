-- Notes how far sweeping has come. Takes the names after which to go on; empty ones are the beginning.
CREATE PROCEDURE holdfast1_mark(p_locks VARBINARY(1024), p_claims VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	UPDATE holdfast_sweep SET locks = p_locks, claims = p_claims WHERE id = 1;
END
