package redislock

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/redis/rueidis"
)

// checkPassfile reads the file with the password, so that a mistake shows before there is a connection.
func (t target) checkPassfile() error {
	if t.passfile == "" {
		return nil
	}
	if t.password != "" {
		return errors.New("the URL should have either a password or the parameter passfile")
	}
	_, err := t.readPassfile()
	return err
}

// credentials returns what asks for the password of each new connection, or nil if the URL has it. The file is read
// each time, so that a new password needs no restart.
func (t target) credentials() func(rueidis.AuthCredentialsContext) (rueidis.AuthCredentials, error) {
	if t.passfile == "" {
		return nil
	}
	return func(rueidis.AuthCredentialsContext) (rueidis.AuthCredentials, error) {
		password, err := t.readPassfile()
		return rueidis.AuthCredentials{Username: t.user, Password: password}, err
	}
}

// readPassfile returns the first line of the file.
func (t target) readPassfile() (string, error) {
	text, err := os.ReadFile(t.passfile)
	if err != nil {
		return "", fmt.Errorf("parameter passfile: %w", err)
	}
	password, _, _ := strings.Cut(string(text), "\n")
	password = strings.TrimSuffix(password, "\r")
	if password == "" {
		return "", fmt.Errorf("parameter passfile: the first line of %s should be the password", t.passfile)
	}
	return password, nil
}
