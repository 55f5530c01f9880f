-- Deletes claims of which no late request can come: 200 at most.
DELETE FROM holdfast_guests WHERE ctid IN
	(SELECT ctid FROM holdfast_guests WHERE until < {now} - {age} ORDER BY until LIMIT 200 FOR UPDATE SKIP LOCKED);
