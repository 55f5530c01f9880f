-- Reads what a lock keeps. Takes the name; returns token, time and text, or no row.
SELECT token, set_at, text FROM holdfast_values WHERE name = ?;
