-- Deletes what oldtokens found, unless it changed.
DELETE FROM holdfast_sessions WHERE name = {name} AND token < {now} - {keep} AND (id = '' OR IS_FREE_LOCK({key}));
