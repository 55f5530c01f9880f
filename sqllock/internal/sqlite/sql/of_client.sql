-- Finds claims that end with a client. Takes the client and how many, returns rows of claims.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE client = ? AND NOT detached LIMIT ?;
