-- Refuses tables of another format, and routines of another revision, before anything is made. Takes and returns nothing.
CREATE PROCEDURE holdfast1_refuse() SQL SECURITY INVOKER
BEGIN
	IF EXISTS (
		SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'holdfast_store'
	) THEN
		IF EXISTS (SELECT 1 FROM holdfast_store WHERE format <> 1) THEN
			SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the tables are in another format than 1; use the holdfast migrate that made them';
		END IF;
	END IF;
	IF EXISTS (
		SELECT 1 FROM information_schema.ROUTINES
		WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME = 'holdfast1_version'
			AND ROUTINE_DEFINITION NOT LIKE '%SELECT format, {revision} FROM%'
	) THEN
		SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the routines are of another revision; use the holdfast migrate that made them';
	END IF;
END
