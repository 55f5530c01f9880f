-- Returns who has the lock; since when, in milliseconds since 1970; and for how many microseconds it is taken.
SELECT s.name, s.locked_by, (EXTRACT(epoch FROM s.locked_at) * 1000)::bigint, (EXTRACT(epoch FROM s.lock_until - {time}) * 1000000)::bigint
	FROM {table} s WHERE s.name = {name} AND s.lock_until > {time};
