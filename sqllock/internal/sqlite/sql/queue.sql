-- Reads a queue, oldest first, the dead among the living. Takes the name, returns rows of claims.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? ORDER BY token;
