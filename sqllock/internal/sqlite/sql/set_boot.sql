-- Says which boot deadlines belong to, and that tokens are greater from now on than any that may have been given out
-- before it. Takes the boot, returns nothing.
UPDATE holdfast_store SET boot = ?, base = floor;
