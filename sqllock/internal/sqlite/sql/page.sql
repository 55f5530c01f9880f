-- Lists claims in the order of their locks' names, so many and no more. Takes the name and the token after which to
-- begin, how many to look at, and now. Returns the name, the token, the client, whether the claim is detached, and
-- whether it has not expired.
SELECT name, token, client, detached, deadline > ?4 FROM holdfast_claims
WHERE (name, token) > (?1, ?2) ORDER BY name, token LIMIT ?3;
