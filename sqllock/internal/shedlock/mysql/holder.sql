-- Returns who has the lock; since when, in milliseconds since 1970; and for how many microseconds it is taken.
SELECT s.name, s.locked_by, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at) DIV 1000, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), s.lock_until)
	FROM {table} s WHERE s.name = {name} AND s.lock_until > {time};
