-- Lists locks with claims that have not expired. Takes a prefix of their names and now; returns each combination of
-- name, client and detached once. The first condition lets SQLite begin at the prefix in its index; the second one
-- decides.
SELECT DISTINCT name, client, detached FROM holdfast_claims
WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1 AND deadline > ?2 ORDER BY name;
