-- Forgets when boots began. Takes and returns nothing.
DELETE FROM holdfast_boots;
