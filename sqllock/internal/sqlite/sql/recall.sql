-- Tells how a claim ended. Takes name, ID and now; returns token and released, or no row.
SELECT token, released FROM holdfast_ends WHERE name = ? AND id = ? AND deadline > ?;
