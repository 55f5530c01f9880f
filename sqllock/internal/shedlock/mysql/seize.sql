-- Frees a lock that another program has had since an instant. Our grants have later ones.
UPDATE {table} s SET s.lock_until = {time}
	WHERE s.name = {name} AND s.lock_until > {time} AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at) DIV 1000 = {token};
