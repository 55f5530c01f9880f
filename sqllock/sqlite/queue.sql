-- Reads the queue of a lock, oldest first, dead claims among the living. Takes the name.
SELECT token, id, weight, units, ttl, boot, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? ORDER BY token;
