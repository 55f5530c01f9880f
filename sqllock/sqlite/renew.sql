-- Lets a queued claim live until a new deadline. Takes TTL, boot, deadline, client, detached, name and token.
UPDATE holdfast_claims SET ttl = ?, boot = ?, deadline = ?, client = ?, detached = ? WHERE name = ? AND token = ?;
