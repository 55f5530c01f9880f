-- Returns at most 200 locks that are free and whose last token is old.
SELECT name, '', TRUE FROM holdfast_sessions WHERE token < {now} - {keep} AND (id = '' OR
	IS_FREE_LOCK(CONCAT('hf:', LEFT(SHA2(CONCAT(DATABASE(), '/', SHA2(name, 256)), 256), 60)))) LIMIT 200;
