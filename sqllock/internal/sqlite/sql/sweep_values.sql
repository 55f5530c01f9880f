-- Forgets values that were removed, of locks without claims: no copy of an earlier request can set them any more.
-- Takes how many, returns nothing.
DELETE FROM holdfast_values WHERE name IN
	(SELECT name FROM holdfast_values v WHERE text = x'' AND NOT EXISTS
		(SELECT 1 FROM holdfast_claims c WHERE c.name = v.name) LIMIT ?);
