-- Forgets the token of a lock. Takes the name, returns nothing.
DELETE FROM holdfast_fences WHERE name = ?;
