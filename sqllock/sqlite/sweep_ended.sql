-- Forgets claims that ended long ago. Takes boot and now.
DELETE FROM holdfast_ended WHERE boot <> ? OR until <= ?;
