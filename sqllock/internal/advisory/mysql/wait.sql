-- Records that a claim waits.
INSERT INTO holdfast_session_claims (name, id, state, token, until) VALUES ({name}, {id}, 'waiting', 0, {now} + {ttl})
	ON DUPLICATE KEY UPDATE until = IF(state = 'waiting', VALUES(until), until);
