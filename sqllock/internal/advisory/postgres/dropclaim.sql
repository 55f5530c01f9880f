-- Deletes what oldclaims found, unless it changed.
DELETE FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND until < {now};
