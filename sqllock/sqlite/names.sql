-- Reads what tells which locks have live claims. Takes the prefix of the names, twice.
SELECT name, token, id, weight, units, ttl, boot, deadline, since, client, detached, granted, revoked, owner, value
FROM holdfast_claims WHERE substr(name, 1, length(?)) = ? ORDER BY name, token;
