-- Returns at most 200 locks that are free and whose last token is old.
SELECT name, ''::bytea, TRUE FROM holdfast_sessions WHERE token < {now} - {keep} AND {free} LIMIT 200;
