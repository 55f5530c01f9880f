-- Grants a lock that nobody has and nobody waits for, as request does first: the statement itself, which takes two thirds of the
-- time of a routine around it. Takes name, ID, weight, limit, TTL, owner, value, and what all IDs of its series are greater than.
-- Returns the token, and no row where request must look.
UPDATE holdfast_locks SET token = greatest(token + 1, holdfast1_now()), id = $2,
	weight = $3, units = $4, ttl = $5, deadline = holdfast1_now() + $5,
	since = holdfast1_now(), owner = $6, value = $7
WHERE name = $1 AND id = '' AND NOT queued AND released = 0
	AND (ended > $8 AND ended < $2 OR barred <= holdfast1_now())
RETURNING token
