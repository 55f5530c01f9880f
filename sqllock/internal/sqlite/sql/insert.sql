-- Queues a claim. Takes the columns in their order, returns nothing.
INSERT INTO holdfast_claims (name, token, id, weight, units, ttl, deadline, since, client, detached, granted,
	owner, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
