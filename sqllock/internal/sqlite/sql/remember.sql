-- Remembers how a claim ended, until a deadline or until the one that is noted already, whichever is later.
-- Takes name, ID, token, released and the deadline; returns nothing.
INSERT INTO holdfast_ends (name, id, token, released, deadline) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name, id) DO UPDATE
SET token = excluded.token, released = excluded.released, deadline = max(deadline, excluded.deadline);
