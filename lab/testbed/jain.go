package testbed

// Jain returns Jain's index of fairness of what each got: 1 if all got the same, 1/n if one got it all.
func Jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}
