-- Forgets a claim that asks for nothing any more.
DELETE FROM holdfast_guests WHERE name = {key} AND id = {id} AND state = '{state}';
