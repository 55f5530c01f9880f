-- Returns the format of the tables, whether there is a row, and whether the session commits each statement by itself; or
-- fails where a table is missing.
SELECT COALESCE((SELECT format FROM holdfast_store), 0), EXISTS(SELECT 1 FROM holdfast_guests), TRUE;
