-- Returns the locks that are taken.
SELECT name FROM {table} s WHERE s.lock_until > {time};
