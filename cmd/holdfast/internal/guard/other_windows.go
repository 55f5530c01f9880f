package guard

// Main is for systems that have guards.
func Main([]string) int { return 64 }
