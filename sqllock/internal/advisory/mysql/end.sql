-- Records how a claim ended that does not have the lock, or no longer has it. A recorded end stays as it is.
INSERT INTO holdfast_session_claims (name, id, state, token, until) VALUES ({name}, {id}, '{state}', {token}, {now} + GREATEST({ttl},
	COALESCE((SELECT ttl FROM holdfast_sessions WHERE name = {name} AND id = {id}), 0)))
	ON DUPLICATE KEY UPDATE token = IF(state = 'waiting', VALUES(token), token),
	until = IF(state = 'waiting', VALUES(until), GREATEST(until, VALUES(until))),
	state = IF(state = 'waiting', VALUES(state), state);
UPDATE holdfast_sessions SET id = '' WHERE name = {name} AND id = {id};
