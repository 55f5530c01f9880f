-- Says when a boot began. Takes the boot and microseconds of the wall clock, returns nothing.
INSERT INTO holdfast_boots (boot, began) VALUES (?, ?);
