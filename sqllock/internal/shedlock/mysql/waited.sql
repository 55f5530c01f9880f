-- Returns the locks for which claims wait.
SELECT DISTINCT name FROM holdfast_guests WHERE state = 'waits' AND until - ttl > {now};
