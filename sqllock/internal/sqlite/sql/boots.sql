-- Makes the table that says when the boot in holdfast_store began, unless it is there. Takes and returns nothing.
CREATE TABLE IF NOT EXISTS holdfast_boots (
	boot  TEXT    NOT NULL PRIMARY KEY,
	began INTEGER NOT NULL -- microseconds of the wall clock
) WITHOUT ROWID;
