-- Ends all claims without a trace, since no request from before the machine booted is under way. Takes and returns
-- nothing.
DELETE FROM holdfast_claims;
DELETE FROM holdfast_ends;
