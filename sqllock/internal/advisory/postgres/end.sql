-- Records how a claim ended that does not have the lock, or no longer has it. A recorded end stays as it is.
INSERT INTO holdfast_session_claims AS c (name, id, state, token, until) VALUES ({name}, {id}, '{state}', {token}, {now} + GREATEST({ttl},
	COALESCE((SELECT ttl FROM holdfast_sessions WHERE name = {name} AND id = {id}), 0)))
	ON CONFLICT (name, id) DO UPDATE SET
	token = CASE WHEN c.state = 'waiting' THEN excluded.token ELSE c.token END,
	until = CASE WHEN c.state = 'waiting' THEN excluded.until ELSE GREATEST(c.until, excluded.until) END,
	state = CASE WHEN c.state = 'waiting' THEN excluded.state ELSE c.state END;
UPDATE holdfast_sessions SET id = '' WHERE name = {name} AND id = {id};
