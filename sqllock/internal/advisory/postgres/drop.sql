-- Deletes a claim that leftovers found, or without an ID a token, unless it has changed since.
DELETE FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND until < {now};
DELETE FROM holdfast_sessions WHERE {id} = ''::bytea AND name = {name} AND token < {now} - {keep} AND {free};
