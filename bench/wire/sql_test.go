package wire

import (
	"bufio"
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	const startup = "\x00\x00\x00\x09\x00\x03\x00\x00\x00"
	for _, row := range []struct {
		name     string
		protocol Protocol
		sent     string
		want     Count
	}{
		{"MySQL login", MySQL(), "\x03\x00\x00\x01abc", Count{Upkeep: 1}},
		{"MySQL query and execution", MySQL(), "\x02\x00\x00\x00\x03x\x01\x00\x00\x00\x17", Count{Requests: 2}},
		{"MySQL ping, end of a statement, quit", MySQL(),
			"\x01\x00\x00\x00\x0e\x05\x00\x00\x00\x19\x01\x00\x00\x00\x01\x00\x00\x00\x01", Count{Upkeep: 3}},
		{"PostgreSQL login", Postgres(), startup + "p\x00\x00\x00\x06x\x00", Count{Upkeep: 2}},
		{"PostgreSQL query", Postgres(), startup + "Q\x00\x00\x00\x06x\x00", Count{Requests: 1, Upkeep: 1}},
		{"PostgreSQL statement and quit", Postgres(), startup +
			"B\x00\x00\x00\x05xE\x00\x00\x00\x04S\x00\x00\x00\x04X\x00\x00\x00\x04", Count{Requests: 1, Upkeep: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			next := row.protocol(bufio.NewReader(strings.NewReader(row.sent)))
			var got Count
			for {
				piece, err := next()
				if err != nil {
					break
				}
				got = got.add(piece)
			}
			if got != row.want {
				t.Errorf("counted %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestStatementsOfNoProtocol(t *testing.T) {
	if _, err := Postgres()(bufio.NewReader(strings.NewReader("\x00\x00\x00\x00")))(); err == nil {
		t.Error("a message without a length is counted")
	}
}
