-- Says which boot deadlines belong to. Takes the boot, returns nothing.
UPDATE holdfast_store SET boot = ?;
