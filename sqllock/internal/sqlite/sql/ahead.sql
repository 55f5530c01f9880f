-- Finds the claim ahead of another. Takes name and token of the other, returns one row or none.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? AND token < ? ORDER BY token DESC LIMIT 1;
