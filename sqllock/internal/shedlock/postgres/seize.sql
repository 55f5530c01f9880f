-- Frees a lock that another program has had since an instant. Our grants have later ones.
UPDATE {table} AS s SET lock_until = {ms}
	WHERE s.name = {name} AND s.lock_until > {time} AND (EXTRACT(epoch FROM s.locked_at) * 1000)::bigint = {token};
