-- Reads numbers that change when a queue does, but not when claims are renewed. Takes name and now; returns three
-- numbers.
SELECT count(*), coalesce(max(token), 0), coalesce(sum(granted + 2 * revoked), 0)
FROM holdfast_claims WHERE name = ? AND deadline > ?;
