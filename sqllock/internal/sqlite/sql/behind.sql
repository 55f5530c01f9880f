-- Finds the live claim behind another. Takes name and token of the other, and now; returns one row or none.
SELECT name, token, id, weight, units, ttl, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? AND token > ? AND deadline > ? ORDER BY token LIMIT 1;
