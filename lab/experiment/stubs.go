package experiment

func onEtcd() []Experiment      { return nil }
func onZooKeeper() []Experiment { return nil }
func onDatabase() []Experiment  { return nil }
