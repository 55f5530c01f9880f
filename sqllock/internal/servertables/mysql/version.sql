-- Says which format the tables have, and which revision the routines. Takes nothing, returns both. It is made last: where it
-- is of a revision, so are the others.
CREATE PROCEDURE holdfast1_version() SQL SECURITY INVOKER
BEGIN
	SELECT format, {revision} FROM holdfast_store;
END
