package sqlite

import (
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// Primary result codes of SQLite: https://sqlite.org/rescode.html.
const (
	codePerm       = 3
	codeBusy       = 5 // BUSY_RECOVERY and BUSY_SNAPSHOT among them
	codeLocked     = 6
	codeReadOnly   = 8
	codeIOErr      = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeProtocol   = 15 // too many opened the write-ahead log at once
	codeTooBig     = 18
	codeConstraint = 19
	codeMismatch   = 20
	codeNoLFS      = 22
	codeAuth       = 23
	codeNotADB     = 26
)

const (
	permissions = "check the file, its folder and their permissions"
	damaged     = "the file is damaged; while nobody uses it, restore it, or remove it with its -wal and -shm"
	readOnly    = "let this user write to the file and its folder, on a file system that is not read-only"
	anotherFile = "name a file that is not there yet, or one with locks: this is another one"
	brokenDisk  = "look at the disk of the file, and at the log of the system"
	busy        = "other processes write to the file, or one was stopped while it did"
)

// meanings are the codes of SQLite. What is not among them may have happened.
var meanings = map[int]driver.ServerError{
	codePerm:       {Effect: driver.Refused, Advice: permissions},
	codeBusy:       {Effect: driver.NotNow, Advice: busy},
	codeLocked:     {Effect: driver.NotNow, Advice: busy},
	codeReadOnly:   {Effect: driver.Refused, Advice: readOnly},
	codeIOErr:      {Effect: driver.MayHaveHappened, Advice: brokenDisk},
	codeCorrupt:    {Effect: driver.Refused, Advice: damaged},
	codeFull:       {Effect: driver.MayHaveHappened, Advice: "make room on the disk of the file"},
	codeCantOpen:   {Effect: driver.Refused, Advice: permissions},
	codeProtocol:   {Effect: driver.NotNow, Advice: busy},
	codeTooBig:     {Effect: driver.Refused},
	codeConstraint: {Effect: driver.Refused},
	codeMismatch:   {Effect: driver.Refused},
	codeNoLFS:      {Effect: driver.Refused, Advice: "use a file system that takes large files"},
	codeAuth:       {Effect: driver.Refused, Advice: permissions},
	codeNotADB:     {Effect: driver.Refused, Advice: anotherFile},
}

// texts are what SQLite says, for SQL drivers that do not tell codes.
var texts = []struct {
	text string
	code int
}{
	{"database is locked", codeBusy}, {"database table is locked", codeLocked},
	{"database schema is locked", codeLocked}, {"locking protocol", codeProtocol},
	{"readonly database", codeReadOnly}, {"disk image is malformed", codeCorrupt},
	{"unable to open database file", codeCantOpen}, {"file is not a database", codeNotADB},
	{"disk I/O error", codeIOErr}, {"database or disk is full", codeFull},
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

// saidBy returns the primary result code of SQLite's own error, and that error, out of what was wrapped around it; nil
// if there is none.
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
