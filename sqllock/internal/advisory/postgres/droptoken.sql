-- Deletes a token that oldtokens found, unless it has changed since.
DELETE FROM holdfast_sessions WHERE name = {name} AND token < {now} - {keep}
	AND (id = '' OR NOT EXISTS(SELECT 1 FROM pg_locks l WHERE {held}));
