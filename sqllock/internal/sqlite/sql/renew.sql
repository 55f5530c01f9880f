-- Lets a claim live until another deadline. Takes TTL, deadline, detached, name and token; returns nothing.
UPDATE holdfast_claims SET ttl = ?, deadline = ?, detached = ? WHERE name = ? AND token = ?;
