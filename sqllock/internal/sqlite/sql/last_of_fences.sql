-- Finds the last one of those tokens that are looked at next. Takes the same, returns token and name, or no row if there
-- are fewer.
SELECT token, name FROM holdfast_fences WHERE (token, name) > (?1, ?2) AND token < ?3
ORDER BY token, name LIMIT 1 OFFSET ?4 - 1;
