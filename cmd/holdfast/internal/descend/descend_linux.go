// Package descend kills what descends from a process that adopts orphans, in whatever process group it is.
package descend

import (
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Kill kills the children that are of the family, among them orphans that left their group, with all that descends from
// them, and reports whether there were any. Parents end first, so that none goes on with what comes after a child. Who
// is missed, because its parent ended while we looked, is found the next time.
func (f Family) Kill() (found bool) {
	var all []held
	for _, p := range f.tree() { // all are held before the first is killed, whose children have another parent then
		if h, ok := f.hold(p); ok {
			all = append(all, h)
		}
	}
	for _, h := range all {
		h.kill()
	}
	return len(all) > 0
}

// tree returns the children that are of the family, and what descends from them.
func (f Family) tree() (tree []process) {
	children := make(map[int][]process) // by parent
	for p := range processes {
		if p.lives && p.pid != f.Parent && p.pid != f.Spare {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for _, p := range children[f.Parent] {
		if f.has(p) {
			tree = append(tree, p)
		}
	}
	delete(children, f.Parent)
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].pid]...)
		delete(children, tree[i].pid) // an ID may have been given again while we read
	}
	return tree
}

// Lives reports whether a child that is of the family runs.
func (f Family) Lives() bool {
	for p := range processes {
		if f.has(p) {
			return true
		}
	}
	return false
}

func (f Family) has(p process) bool {
	return p.lives && p.parent == f.Parent && p.pid != f.Spare &&
		(f.Mark == "" || p.group == f.Group || isMarked(p.pid, f.Mark))
}

// A held process is killed, or none: another one may get its ID, but not what it is held by.
type held struct {
	pid, fd int // no fd where the kernel has none to give
}

// hold holds a process that is of the family still: another one may have got its ID since that was read. It is looked
// at while it is held, so that what was seen is what is killed.
func (f Family) hold(p process) (h held, ok bool) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == unix.ESRCH {
		return held{}, false
	}
	if err != nil {
		fd = -1
	}
	h = held{p.pid, fd}
	now := readStat("/proc/" + strconv.Itoa(p.pid) + "/stat")
	if !f.has(now) && (!now.lives || now.parent != p.parent || p.parent == f.Parent) {
		h.letGo()
		return held{}, false
	}
	return h, true
}

func (h held) kill() {
	defer h.letGo()
	if h.fd < 0 || unix.PidfdSendSignal(h.fd, unix.SIGKILL, nil, 0) == unix.ENOSYS {
		_ = syscall.Kill(h.pid, syscall.SIGKILL) // it may be gone by now
	}
}

func (h held) letGo() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd)
	}
}

// isMarked reports whether a process was started with a variable, or with one that adds words to it.
func isMarked(pid int, mark string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for variable := range strings.SplitSeq(string(environ), "\x00") {
		if variable == mark || strings.HasPrefix(variable, mark+" ") {
			return true
		}
	}
	return false
}

// GroupLives reports whether a process of a group runs. Those that nobody has waited for do not, unless /proc does not
// tell them apart.
func GroupLives(group int) bool {
	if !tellsAll() {
		return syscall.Kill(-group, 0) != syscall.ESRCH
	}
	for p := range processes {
		if p.lives && p.group == group {
			return true
		}
	}
	return false
}

// processes yields those that /proc shows: none where its IDs are not those of this process's namespace, in which they
// would be somebody else's.
func processes(yield func(process) bool) {
	if !isOurs() {
		return
	}
	entries, _ := os.ReadDir("/proc") // what there is of it counts
	for _, e := range entries {
		if name := e.Name(); '0' <= name[0] && name[0] <= '9' && !yield(readStat("/proc/"+name+"/stat")) {
			return
		}
	}
}

// isOurs reports whether /proc calls this process, and so all others, by the ID that it has for itself.
func isOurs() bool {
	us := strconv.Itoa(os.Getpid())
	self, err := os.Readlink("/proc/self")
	if err != nil || self != us {
		return false
	}
	status, err := os.ReadFile("/proc/self/status")
	_, ids, nested := strings.Cut(string(status), "\nNSpid:") // one ID for each namespace, from that of /proc to ours
	ids, _, _ = strings.Cut(ids, "\n")
	return err == nil && (!nested || strings.TrimSpace(ids) == us)
}

// tellsAll reports whether /proc shows the processes of all users: hidepid has it show our own alone.
func tellsAll() bool {
	_, err := os.ReadFile("/proc/1/stat")
	return err == nil && isOurs()
}

// A process as /proc shows it.
type process struct {
	pid, parent, group int
	lives              bool
}

// readStat returns the zero process when it is gone.
func readStat(file string) (p process) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return p
	}
	// PID (NAME) STATE PARENT GROUP ..., where NAME may contain anything.
	line := string(stat)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 3 {
		return p
	}
	p.pid, _ = strconv.Atoi(path.Base(path.Dir(file)))
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.lives = fields[0] != "Z" && fields[0] != "X" || hasThreads(fields)
	return p
}

// hasThreads reports whether threads go on of a process whose first one has ended, which is shown as if all had.
func hasThreads(fields []string) bool {
	const threads = 17 // the place of their number, from the state on
	return len(fields) > threads && fields[threads] != "0" && fields[threads] != "1"
}
