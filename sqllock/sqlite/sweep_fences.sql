-- Forgets the tokens of locks that were not used for long. Takes the least token to keep and how many, returns
-- their names.
DELETE FROM holdfast_fences WHERE name IN (
	SELECT name FROM holdfast_fences f
	WHERE token < ? AND NOT EXISTS (SELECT 1 FROM holdfast_claims c WHERE c.name = f.name)
	ORDER BY token LIMIT ?
)
RETURNING name;
