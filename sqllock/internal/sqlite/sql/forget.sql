-- Ends the claims of clients without a trace, since none of them has survived the end of the boot, and no request from
-- before it is under way. Takes and returns nothing.
DELETE FROM holdfast_claims WHERE NOT detached;
DELETE FROM holdfast_ends;
