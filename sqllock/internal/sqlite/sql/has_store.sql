-- Tells whether there are tables. Takes nothing, returns 0 or 1.
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'holdfast_store');
