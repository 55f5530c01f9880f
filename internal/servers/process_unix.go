//go:build unix

package servers

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

func (p *process) terminate() error {
	return p.cmd.Process.Signal(cmp.Or(p.stop, os.Signal(syscall.SIGTERM)))
}

// runAs lets a command run as another user, by name.
func runAs(cmd *exec.Cmd, name string) error {
	if name == "" {
		return nil
	}
	uid, gid, err := account(name)
	if err != nil {
		return err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return nil
}

// giveTo makes a user the owner of a folder.
func giveTo(name, dir string) error {
	uid, gid, err := account(name)
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

func account(name string) (uid, gid int, err error) {
	found, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fmt.Errorf("the server does not run as root, and there is nobody else to run it: %w", err)
	}
	if uid, err = strconv.Atoi(found.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(found.Gid)
	return uid, gid, err
}
