-- Returns no row, but columns, or fails where one of them is missing.
SELECT lock_until, locked_at, locked_by, name FROM {table} LIMIT 0;
