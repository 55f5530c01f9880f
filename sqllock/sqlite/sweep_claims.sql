-- Takes dead claims out of queues that nobody uses. Takes boot and now.
DELETE FROM holdfast_claims WHERE boot <> ? OR deadline + ttl + ttl <= ?;
