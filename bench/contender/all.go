package contender

// OnRedis are those who are compared on Redis.
func OnRedis() Cast {
	return Cast{Limit: Raw(), Ours: Holdfast(), Rivals: []Contender{Redsync(), Redislock(), Rueidislock()}}
}

// OnEtcd are those who are compared on etcd.
func OnEtcd() Cast {
	return Cast{Limit: RawEtcd(), Ours: HoldfastEtcd(), Rivals: []Contender{EtcdMutex()}}
}

// OnZooKeeper are those who are compared on ZooKeeper.
func OnZooKeeper() Cast {
	return Cast{Limit: RawZooKeeper(), Ours: HoldfastZooKeeper(), Rivals: []Contender{ZooKeeperLock()}}
}
