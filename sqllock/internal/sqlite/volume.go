package sqlite

import "strings"

// isOnServer reports whether a volume of Windows is a folder of a server: \\SERVER\FOLDER, or \\?\UNC\SERVER\FOLDER.
// Other names that begin with \\?\ or \\.\ are devices of this machine.
func isOnServer(volume string) bool {
	volume = strings.ReplaceAll(volume, "/", `\`)
	if !strings.HasPrefix(volume, `\\`) {
		return false
	}
	server, rest, _ := strings.Cut(volume[2:], `\`)
	if server != "?" && server != "." {
		return true
	}
	name, _, _ := strings.Cut(rest, `\`)
	return strings.EqualFold(name, "UNC")
}
