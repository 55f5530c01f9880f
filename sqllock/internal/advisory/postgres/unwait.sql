-- Records that a claim no longer waits.
DELETE FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND state = 'waiting';
