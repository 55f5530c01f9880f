-- Records that a claim waits.
INSERT INTO holdfast_session_claims AS c (name, id, state, token, until) VALUES ({name}, {id}, 'waiting', 0, {now} + {ttl})
	ON CONFLICT (name, id) DO UPDATE SET until = excluded.until WHERE c.state = 'waiting';
