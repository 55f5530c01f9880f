-- Returns locks that are taken and whose names begin so, in the order of their column, so many and no more. Takes what
-- to begin with, after which name, and how many.
SELECT s.name FROM {table} s WHERE ({after} = '' OR s.name > {after}) AND {begins} AND s.lock_until > {time} ORDER BY s.name LIMIT {page};
