-- Finds a claim. Takes name and ID, returns one row or none.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? AND id = ?;
