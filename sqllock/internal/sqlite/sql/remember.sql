-- Remembers how a claim ended, for no shorter than is noted already. Takes name, ID, token, released and the deadline of
-- remembering; returns nothing.
INSERT INTO holdfast_ends (name, id, token, released, deadline) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name, id) DO UPDATE
SET token = excluded.token, released = excluded.released, deadline = max(deadline, excluded.deadline);
