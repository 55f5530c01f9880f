-- Returns whether a claim that was granted has not been ended by others.
SELECT EXISTS(SELECT 1 FROM holdfast_guests WHERE name = {key} AND id = {id} AND state IN ('granted', 'alone') AND token = {token});
