-- Remembers how a claim ended. Takes name, ID, token, released and the deadline of remembering; returns nothing.
INSERT OR REPLACE INTO holdfast_ends (name, id, token, released, deadline) VALUES (?, ?, ?, ?, ?);
