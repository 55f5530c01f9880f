-- Records that a claim was released, and then frees the lock: were it cut off in between the other way round, the claim
-- would count as expired, and a repeated release would fail. Returns whether the session had the lock.
INSERT INTO holdfast_session_claims (name, id, state, token, until) VALUES ({name}, {id}, 'released', {token}, {now} + GREATEST({ttl},
	COALESCE((SELECT ttl FROM holdfast_sessions WHERE name = {name} AND id = {id}), 0)))
	ON DUPLICATE KEY UPDATE state = VALUES(state), token = VALUES(token), until = VALUES(until);
UPDATE holdfast_sessions SET id = '' WHERE name = {name} AND id = {id};
SELECT COALESCE(RELEASE_LOCK({key}), 0);
