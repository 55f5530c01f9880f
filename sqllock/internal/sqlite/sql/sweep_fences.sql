-- Forgets old tokens of locks without claims, oldest first. Takes token and name of the last one that was looked at, the
-- least token to keep, and how many to look at; returns the names of the locks.
DELETE FROM holdfast_fences WHERE name IN (SELECT name FROM
	(SELECT name FROM holdfast_fences WHERE (token, name) > (?, ?) AND token < ? ORDER BY token, name LIMIT ?) f
	WHERE NOT EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = f.name))
RETURNING name;
