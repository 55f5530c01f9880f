-- Frees the lock if the claim has it, and notes that the claim has ended thus.
UPDATE holdfast_guests g JOIN {table} s ON s.name = {name}
	SET s.lock_until = {time}, g.state = '{state}', g.until = GREATEST(g.until, {now} + 2 * {ttl})
	WHERE g.name = {key} AND g.id = {id} AND ({token} = 0 OR g.token = {token}) AND {ours} AND s.lock_until > {time};
