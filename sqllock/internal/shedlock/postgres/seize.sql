-- Frees a lock that a program with ShedLock has had since an instant.
UPDATE {table} AS s SET lock_until = {ms}
	WHERE s.name = {name} AND s.lock_until > {time} AND (EXTRACT(epoch FROM s.locked_at) * 1000)::bigint = {token} AND s.locked_by NOT LIKE 'holdfast:%';
