-- Lets a claim live until another deadline. Takes TTL, deadline, detached, client, name and token; returns nothing.
UPDATE holdfast_claims SET ttl = ?, deadline = ?, detached = ?, client = ? WHERE name = ? AND token = ?;
