-- Deletes a token that oldtokens found, unless it has changed since.
DELETE FROM holdfast_sessions WHERE name = {name} AND token < {now} - {keep} AND {free};
