-- Says when our boot began. Takes microseconds of the wall clock, returns nothing.
UPDATE holdfast_store SET began = ?;
