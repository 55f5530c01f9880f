-- Notes that a claim waits no more.
DELETE FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state = 'waiting';
