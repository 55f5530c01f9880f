-- Returns how a claim ended, or that it waits, and its token, if that is known.
SELECT state, token FROM holdfast_session_claims WHERE name = {name} AND id = {id} AND until > {now};
