-- Makes the table of what locks keep between their holders, unless it is there. Takes and returns nothing.
CREATE TABLE IF NOT EXISTS holdfast_values (
	name   BLOB    NOT NULL PRIMARY KEY,
	token  INTEGER NOT NULL, -- of the lease that set it
	set_at INTEGER NOT NULL, -- microseconds of the wall clock of who did
	text   BLOB    NOT NULL  -- empty when it was removed
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS holdfast_values_removed ON holdfast_values (name) WHERE text = x'';
