-- Prolongs the lock of a claim that has it, and notes that it does. A claim that was left alone is prolonged by what
-- leaves it alone. The last token stays for as long as the clock has not overtaken it.
UPDATE holdfast_guests g JOIN holdfast_guests l ON l.name = g.name AND l.id = '' JOIN {table} s ON s.name = {name}
	SET s.lock_until = {end}, g.state = IF({alone}, 'alone', 'granted'), g.ttl = {ttl},
	g.until = GREATEST(g.until, {now} + 2 * {ttl}), g.token = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at) DIV 1000,
	l.token = GREATEST(l.token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at) DIV 1000),
	l.until = GREATEST(l.until, {now} + 2 * {ttl}, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', s.locked_at))
	WHERE g.name = {key} AND g.id = {id} AND (g.state IN ('asks', 'waits', 'granted') OR g.state = 'alone' AND {alone})
	AND ({token} = 0 OR g.token = {token}) AND {ours} AND s.lock_until > {time};
