-- Returns the format of the tables, or fails where one of them is missing.
SELECT COALESCE((SELECT format FROM holdfast_store), 0), EXISTS(SELECT 1 FROM holdfast_guests);
