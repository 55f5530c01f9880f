-- Returns whether another claim has the lock.
SELECT EXISTS(SELECT 1 FROM {table} s WHERE s.name = {name} AND s.lock_until > {time} AND NOT ({ours}));
