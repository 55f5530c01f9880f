//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

import (
	"io/fs"
	"os"
	"syscall"
)

// A share is who may use a database: those who may write it. Whoever may only read it cannot take part.
type share struct {
	uid, gid int
	mode     fs.FileMode // of a file that all of them may read and write
}

func shareOf(database fs.FileInfo) share {
	written := database.Mode().Perm() & 0o222
	return share{uid: uidOf(database), gid: gidOf(database), mode: 0o600 | written | written<<1}
}

// isOfMany reports whether more than one user may use the database.
func (s share) isOfMany() bool { return s.mode&0o066 != 0 }

// with gives a file that this process has just made to those who share, as far as that is allowed. It takes the open
// file and no name, which could be that of another file by now.
func (s share) with(f *os.File, mode fs.FileMode) error {
	uid := -1
	if os.Geteuid() == 0 {
		uid = s.uid // or the owner of a private database could not use it any more
	}
	_ = f.Chown(uid, s.gid) // if it is not allowed, the mode makes up for it
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if gidOf(info) != s.gid { // then the group that the file has gets the same rights as everybody
		mode = mode&^0o070 | mode&0o007<<3
	}
	return f.Chmod(mode)
}

// covers reports whether all who may write a folder, besides its owner, are among those who share.
func (s share) covers(folder fs.FileInfo) bool {
	byAll := s.mode&0o002 != 0
	byGroup := byAll || s.mode&0o020 != 0 && gidOf(folder) == s.gid
	written := folder.Mode().Perm()
	return (byAll || written&0o002 == 0) && (byGroup || written&0o020 == 0)
}

// close takes away from a folder of ours the rights that a copy, a backup or chmod gave to others: whoever can open the
// folder can take its flock, for which the writers wait.
func (s share) close(root *os.Root, folder fs.FileInfo) error {
	excess := folder.Mode().Perm() &^ (s.mode | s.mode>>1)
	if excess == 0 || uidOf(folder) != os.Geteuid() {
		return nil
	}
	self, err := root.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return self.Chmod(folder.Mode() &^ excess)
}

// trusts reports whether a file belongs to a user who could do everything anyway: us, the owner of the database, or
// root.
func (s share) trusts(info fs.FileInfo) bool {
	uid := uidOf(info)
	return uid == os.Geteuid() || uid == s.uid || uid == 0
}

func uidOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
func gidOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Gid) }

// isSingle reports whether a file has only one name.
func isSingle(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Nlink == 1 }
