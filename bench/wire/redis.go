package wire

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Redis counts commands. Those for which renews returns true are upkeep, as are pings; nil means that there are none.
func Redis(renews func(Command) bool) Protocol {
	return func(r *bufio.Reader) func() (Count, error) {
		return func() (Count, error) {
			command, err := readCommand(r)
			switch {
			case err != nil:
				return Count{}, err
			case command.Name() == "PING", renews != nil && renews(command):
				return oneUpkeep, nil
			default:
				return oneRequest, nil
			}
		}
	}
}

// A Command is a Redis request: the command's name and its arguments, as they went over the wire.
type Command []string

// Name returns the command's name in upper case.
func (c Command) Name() string {
	if len(c) == 0 {
		return ""
	}
	return strings.ToUpper(c[0])
}

// readCommand reads one request of the Redis protocol: "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n".
func readCommand(r *bufio.Reader) (Command, error) {
	count, err := readLength(r, '*')
	if err != nil {
		return nil, err
	}
	command := make(Command, count)
	for i := range command {
		if command[i], err = readArgument(r); err != nil {
			return nil, err
		}
	}
	return command, nil
}

func readArgument(r *bufio.Reader) (string, error) {
	length, err := readLength(r, '$')
	if err != nil {
		return "", err
	}
	const end = len("\r\n")
	data := make([]byte, length+end)
	if _, err := io.ReadFull(r, data); err != nil {
		return "", err
	}
	return string(data[:length]), nil
}

// readLength reads a line of a type byte and a number.
func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("wire: got %q where the protocol has %q and a length", line, kind)
	}
	n, err := strconv.Atoi(strings.TrimRight(line[1:], "\r\n"))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("wire: %q has no length", line)
	}
	return n, nil
}
