-- Reads one claim. Takes the name and the ID.
SELECT token, id, weight, units, ttl, boot, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE name = ? AND id = ?;
