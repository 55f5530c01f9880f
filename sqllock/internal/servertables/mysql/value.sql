-- Reads what a lock keeps between its holders. Takes the name; returns token, time and value, or no row.
CREATE PROCEDURE holdfast1_value(p_name VARBINARY(1024)) SQL SECURITY INVOKER
BEGIN
	SELECT token, set_at, value FROM holdfast_values WHERE name = p_name AND value <> '';
END
