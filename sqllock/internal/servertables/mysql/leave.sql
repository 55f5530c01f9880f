-- Releases a claim that has its lock to itself, as release does first: see take. Takes name, ID and token.
UPDATE holdfast_locks SET
	ended = id, under = token, id = '',
	barred = GREATEST(barred, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + ttl)
WHERE name = ? AND id = ? AND token = ? AND deadline > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
