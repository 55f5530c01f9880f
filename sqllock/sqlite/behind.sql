-- Reads the queue of a lock behind a token, oldest first. Takes the name and the token.
SELECT token, id, weight, units, ttl, boot, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? AND token > ? ORDER BY token;
