-- Finds old tokens, oldest first. Takes token and name of the last one that was looked at, the least token to keep,
-- and how many to look at; returns name, token, and whether the lock has claims.
SELECT name, token, EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = f.name)
FROM holdfast_fences f WHERE (token, name) > (?, ?) AND token < ? ORDER BY token, name LIMIT ?;
