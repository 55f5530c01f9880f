//go:build linux

package main

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// onTerminal runs a command on a terminal of its own: onterminal KEYS SCREEN COMMAND [ARG...]. What is written to the
// FIFO KEYS is typed, and what the terminal shows goes to the file SCREEN.
func onTerminal() {
	keys, err := os.OpenFile(os.Args[1], os.O_RDWR, 0) // so that it does not end with its first writer
	check(err)
	screen, err := os.Create(os.Args[2])
	check(err)
	master, tty := openTerminal()

	cmd := exec.Command(os.Args[3], os.Args[4:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // see Pdeathsig
	check(cmd.Start())
	check(tty.Close())
	go io.Copy(master, keys)       // ends with this process
	_, _ = io.Copy(screen, master) // ends with an error when nobody has the terminal open any more
	_ = cmd.Wait()                 // the state tells
	os.Exit(cmd.ProcessState.ExitCode())
}

// openTerminal makes a terminal, and what it is written to and read from by.
func openTerminal() (master, tty *os.File) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	check(err)
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	check(err)
	check(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	check(err)
	return master, tty
}
