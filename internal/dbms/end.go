package dbms

// End is the least string that is greater than all that begin with prefix, where strings are compared byte by byte. It
// is empty where there is none.
func End(prefix string) string {
	end := []byte(prefix)
	for last := len(end) - 1; last >= 0; last-- {
		if end[last] < 0xff {
			end[last]++
			return string(end[:last+1])
		}
	}
	return ""
}
