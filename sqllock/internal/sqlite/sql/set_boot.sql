-- Says which boot deadlines belong to, and that tokens are greater from now on than any that may have been given out
-- before it. Takes the boot and when it began, in microseconds of the wall clock; returns nothing.
UPDATE holdfast_store SET boot = ?, began = ?, base = floor;
