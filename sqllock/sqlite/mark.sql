-- Reads a number that changes with the queue of a lock, but for renewals. Takes the name.
SELECT count(*), coalesce(max(token), 0), coalesce(sum(granted + 2 * revoked), 0) FROM holdfast_claims WHERE name = ?;
