-- Queues a claim. Takes its columns.
INSERT INTO holdfast_claims (name, token, id, weight, units, ttl, boot, deadline, since, client, detached, granted, revoked, owner, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?);
