-- Frees a lock that a program with ShedLock has had since an instant.
UPDATE {table} s SET s.lock_until = {time}
	WHERE s.name = {name} AND s.lock_until > {time} AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at) DIV 1000 = {token}
	AND s.locked_by NOT LIKE 'holdfast:%';
