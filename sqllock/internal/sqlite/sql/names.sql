-- Lists locks with claims that have not expired. Takes a prefix of their names and now; returns name, client and
-- detached, each combination once.
SELECT DISTINCT name, client, detached FROM holdfast_claims
WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1 AND deadline > ?2 ORDER BY name;
