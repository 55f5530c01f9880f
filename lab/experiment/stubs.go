package experiment

func onRedis() []Experiment     { return nil }
func onQuorum() []Experiment    { return nil }
func onEtcd() []Experiment      { return nil }
func onZooKeeper() []Experiment { return nil }
func onDatabase() []Experiment  { return nil }
