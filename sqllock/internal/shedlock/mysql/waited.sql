-- Returns the locks for which claims wait, and whose names are between two.
SELECT DISTINCT name FROM holdfast_guests
	WHERE name >= {from} AND name < {before} AND state = 'waits' AND until - ttl > {now};
