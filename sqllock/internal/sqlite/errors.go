package sqlite

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// These are primary result codes of SQLite that more than a table has to know: https://sqlite.org/rescode.html.
const (
	codeBusy     = 5 // BUSY_RECOVERY and BUSY_SNAPSHOT among them
	codeLocked   = 6
	codeFull     = 13
	codeProtocol = 15 // too many opened the write-ahead log at once
)

const (
	permissions = "check the file, its folder and their permissions, and that the file system is not read-only"
	damaged     = "the file is damaged; while nobody uses it, restore it, or remove it with its -wal and -shm"
	readOnly    = "let this user write to the file and its folder, on a file system that is not read-only"
	anotherFile = "name a file that is not there yet, or one with locks: this is another one"
	brokenDisk  = "look at the disk of the file, and at the log of the system"
	busy        = "other processes write to the file, or one was stopped while it did"
)

// meanings are the codes of SQLite. What is not among them may have happened.
var meanings = map[int]driver.ServerError{
	3:            {Effect: driver.Refused, Advice: permissions}, // PERM
	codeBusy:     {Effect: driver.NotNow, Advice: busy},
	codeLocked:   {Effect: driver.NotNow, Advice: busy},
	8:            {Effect: driver.Refused, Advice: readOnly},           // READONLY
	10:           {Effect: driver.MayHaveHappened, Advice: brokenDisk}, // IOERR
	11:           {Effect: driver.Refused, Advice: damaged},            // CORRUPT
	codeFull:     {Effect: driver.MayHaveHappened, Advice: "make room on the disk of the file"},
	14:           {Effect: driver.Refused, Advice: permissions}, // CANTOPEN
	codeProtocol: {Effect: driver.NotNow, Advice: busy},
	18:           {Effect: driver.Refused},                                                     // TOOBIG
	19:           {Effect: driver.Refused},                                                     // CONSTRAINT
	20:           {Effect: driver.Refused},                                                     // MISMATCH
	22:           {Effect: driver.Refused, Advice: "use a file system that takes large files"}, // NOLFS
	23:           {Effect: driver.Refused, Advice: permissions},                                // AUTH
	26:           {Effect: driver.Refused, Advice: anotherFile},                                // NOTADB
}

// texts are what SQLite says, for SQL drivers that do not tell codes.
var texts = []struct {
	text string
	code int
}{
	{"database is locked", codeBusy}, {"database table is locked", codeLocked},
	{"database schema is locked", codeLocked}, {"locking protocol", codeProtocol},
	{"readonly database", 8}, {"disk image is malformed", 11},
	{"unable to open database file", 14}, {"file is not a database", 26},
	{"disk I/O error", 10}, {"database or disk is full", codeFull},
}

// explain says what an error of SQLite means. Of a transaction that did not come to its COMMIT, as err says, nothing
// has happened.
func explain(err error) error {
	code, said := saidBy(err)
	if _, known := errors.AsType[*driver.ServerError](err); known || said == nil ||
		errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrBatchRejected) {
		return err
	}
	answer := meanings[code]
	answer.Words, answer.Who, answer.Err = said.Error(), "SQLite", err
	if errors.Is(err, driver.ErrUnsent) {
		return unsent(&answer)
	}
	return &answer
}

// IsBusy reports whether an error means that nothing was done because others were in the way, so that it can be
// repeated.
func IsBusy(err error) bool {
	code, _ := saidBy(err)
	return slices.Contains([]int{codeBusy, codeLocked, codeProtocol}, code)
}

// saidBy returns the primary result code of SQLite's own error, and that error, out of what was wrapped around it;
// nil if there is none.
func saidBy(err error) (code int, said error) {
	var coded interface {
		error
		Code() int
	}
	if err == nil {
		return 0, nil
	}
	if errors.As(err, &coded) {
		return coded.Code() & 0xff, coded
	}
	for _, t := range texts {
		if strings.Contains(err.Error(), t.text) {
			return t.code, innermost(err)
		}
	}
	return 0, nil
}

// innermost is what was wrapped first.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
