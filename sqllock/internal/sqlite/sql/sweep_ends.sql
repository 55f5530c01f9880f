-- Forgets claims that ended long enough ago. Takes now and how many, returns nothing.
DELETE FROM holdfast_ends WHERE (name, id) IN
	(SELECT name, id FROM holdfast_ends WHERE deadline <= ? ORDER BY deadline LIMIT ?);
