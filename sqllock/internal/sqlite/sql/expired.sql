-- Finds claims that have expired. Takes now and how many, returns rows of claims.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE deadline <= ? ORDER BY deadline LIMIT ?;
