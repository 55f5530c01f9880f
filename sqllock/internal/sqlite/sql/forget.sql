-- Ends the claims of clients after a boot. No end is remembered, because no client has survived the boot, and no
-- request from before it is under way. Takes and returns nothing.
DELETE FROM holdfast_claims WHERE NOT detached;
DELETE FROM holdfast_ends;
