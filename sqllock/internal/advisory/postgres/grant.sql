-- Records the holder of the lock, with a token greater than all before. If the claim before it was not released, it is
-- recorded as expired. Returns the token, whether another client has ended the claim meanwhile, and whether others wait.
INSERT INTO holdfast_session_claims (name, id, state, token, until)
	SELECT name, id, 'expired', token, {now} + ttl FROM holdfast_sessions WHERE name = {name} AND id <> '' AND id <> {id}
	ON CONFLICT DO NOTHING;
INSERT INTO holdfast_sessions AS s (name, token, id, ttl, session) VALUES ({name}, {now}, {id}, {ttl}, pg_backend_pid())
	ON CONFLICT (name) DO UPDATE SET token = GREATEST(s.token + 1, excluded.token), id = excluded.id, ttl = excluded.ttl, session = excluded.session;
SELECT token,
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id <> {id} AND state = 'waiting' AND until > {now})
	FROM holdfast_sessions WHERE name = {name};
