-- Says up to where tokens may be given out that are not on the disk. Takes that token, returns nothing.
UPDATE holdfast_store SET floor = ?;
