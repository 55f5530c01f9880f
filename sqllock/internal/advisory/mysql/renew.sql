-- Returns the number of the session; whether it has the lock; whether another client has ended the claim; and whether
-- others wait.
SELECT CONNECTION_ID(), COALESCE(IS_USED_LOCK({key}) = CONNECTION_ID(), 0),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state <> 'waiting' AND until > {now}),
	EXISTS(SELECT 1 FROM holdfast_session_claims WHERE name = {name} AND id <> {id} AND state = 'waiting' AND until > {now});
