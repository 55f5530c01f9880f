package experiment

func inProcess() []Experiment {
	return []Experiment{lostUpdates(), spinning(), starvedWriter(), semaphorePV(), condition(), fairness(), processes()}
}
