-- Notes that a claim has ended which had the lock under this token, and has it no more.
UPDATE holdfast_guests SET state = 'ended', until = GREATEST(until, {now} + 2::bigint * {ttl})
	WHERE name = {key} AND id = {id} AND state IN ('granted', 'alone') AND ({token} = 0 OR token = {token});
