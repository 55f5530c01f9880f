-- Reads when a boot began. Takes the boot, returns microseconds of the wall clock, or no row where that is not known.
SELECT began FROM holdfast_boots WHERE boot = ?;
