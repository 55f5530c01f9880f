-- Forgets a claim whose lock cannot have its name.
DELETE FROM holdfast_guests WHERE name = {key} AND id = {id} AND state IN ('asks', 'waits');
