package guard

// act is for systems that have guards.
func act([]string) int { return 64 }
