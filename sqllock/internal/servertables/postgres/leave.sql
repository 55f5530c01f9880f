-- Releases a claim that has its lock to itself, as release does first: see take. Takes name, ID and token.
UPDATE holdfast_locks SET id = '', ended = id, under = token,
	barred = greatest(barred, holdfast1_now() + ttl)
WHERE name = $1 AND id = $2 AND token = $3 AND deadline > holdfast1_now()
