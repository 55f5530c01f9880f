-- Grants a lock that nobody has and nobody waits for, as request does first: the statement itself, which takes two thirds of the
-- time of a routine around it. Takes TTL, weight, limit, TTL, owner, value, ID, name, what all IDs of its series are greater than,
-- and ID. The ID of the last insert is the token; no row is affected where request must look.
UPDATE holdfast_locks SET
	token = LAST_INSERT_ID(GREATEST(token + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))),
	since = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), deadline = since + ?,
	weight = ?, units = ?, ttl = ?, owner = ?, value = ?, id = ?
WHERE name = ? AND id = '' AND NOT queued AND released = 0
	AND (ended > ? AND ended < ? OR barred <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))
