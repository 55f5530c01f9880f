package sqlite

import "testing"

// Volumes as filepath.VolumeName tells them on Windows.
func TestVolumesOfServers(t *testing.T) {
	for volume, want := range map[string]bool{
		`C:`:                        false,
		`c:`:                        false,
		``:                          false,
		`\\server\share`:            true,
		`//server/share`:            true,
		`\\wsl.localhost\Debian`:    true,
		`\\192.168.0.1\locks$`:      true,
		`\\?\UNC\server\share`:      true,
		`\\.\unc\server\share`:      true,
		`//?/UNC/server/share`:      true,
		`\\?\C:`:                    false,
		`\\.\C:`:                    false,
		`\\?\Volume{b75e2c83-0000}`: false,
	} {
		if got := isOnServer(volume); got != want {
			t.Errorf("%q is of a server: %v, want %v", volume, got, want)
		}
	}
}
