-- Remembers how a claim ended. Takes name, ID, token, released, boot and until when.
INSERT OR REPLACE INTO holdfast_ended (name, id, token, released, boot, until) VALUES (?, ?, ?, ?, ?, ?);
