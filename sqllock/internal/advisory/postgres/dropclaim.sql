-- Deletes a claim that oldclaims found, unless it has changed since.
DELETE FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND until < {now};
