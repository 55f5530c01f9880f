package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// backendFlags say where the locks are.
type backendFlags struct {
	url  string
	file string
	held string // by the file, once it was read

	isOwn bool        // nothing else was named than the file of this user
	warn  func(error) // nil where nobody is to be told

	trace bool // tell what is asked of the backend
	tell  func(answer)
}

// backendEnv is the environment variable that names the backend.
const backendEnv = "HOLDFAST_BACKEND"

// register is for verbs that open the backend.
func (b *backendFlags) register(c *cobra.Command) {
	b.registerURL(c)
	c.Flags().BoolVar(&b.trace, "trace", false,
		"print each request to the backend on standard error, with its answer and how long that took, and each event")
}

// registerURL is for a verb that needs to know no more than where the backend is.
func (b *backendFlags) registerURL(c *cobra.Command) {
	c.Flags().StringVar(&b.url, "backend", "",
		"`URL` of the backend, without a password (default $HOLDFAST_BACKEND, or a file of this user)")
	c.Flags().StringVar(&b.file, "backend-file", "", "`PATH` of a file that holds the URL, which may have a password")
}

// take lets an argument name the backend in the place of --backend.
func (b *backendFlags) take(args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case b.url != "" || b.file != "":
		return usage("the URL is given twice, as an argument and by a flag; give one")
	}
	b.url = args[0]
	return nil
}

// choose returns the URL of the backend: from a flag, the environment, or the file of this user.
func (b *backendFlags) choose() (string, error) {
	if rawURL, given, err := b.given(); given {
		return rawURL, err
	}
	return b.own()
}

// given returns the URL that a flag or the environment names, if one does.
func (b *backendFlags) given() (rawURL string, given bool, err error) {
	switch {
	case b.url != "" && b.file != "":
		return "", true, usage("--backend and --backend-file exclude each other; use one of them")
	case b.url != "":
		return b.url, true, b.refusePassword()
	case b.file != "":
		rawURL, err = b.read()
		return rawURL, true, err
	}
	if rawURL, given = os.LookupEnv(backendEnv); given {
		err = refuseBlank(rawURL)
	}
	return rawURL, given, err
}

// own returns the URL of the file of this user, and tells what is to be known about it.
func (b *backendFlags) own() (string, error) {
	b.isOwn = true
	if err := checkScheme("file"); err != nil {
		return "", noOwnFile(err)
	}
	rawURL, caution, err := ownFile()
	if caution != nil && b.warn != nil {
		b.warn(caution)
		b.warn = nil // once
	}
	return rawURL, err
}

// refuseBlank refuses an environment that names a backend without saying which.
func refuseBlank(rawURL string) error {
	if strings.TrimSpace(rawURL) == "" {
		return usage("%s is empty; %s Unset it for the file of this user, or set it to a URL", backendEnv, unsetHint)
	}
	return nil
}

// refusePassword keeps passwords off the command line, which all users of the machine can read.
func (b *backendFlags) refusePassword() error {
	const place = "into " + backendEnv + ", or into a file named by --backend-file"
	u, err := driver.ParseURL(b.url)
	switch {
	case err != nil && strings.Contains(b.url, "@"):
		return usage("%w; put one with a password "+place, err)
	case err != nil:
		return usage("%w", err)
	case hasPassword(u):
		return usage("the backend must be a URL without a password here, because others can read a command line; " +
			"put a URL with one " + place)
	}
	return nil
}

// Parameters by which servers take passwords are called, or end, like one of these.
var (
	secrets = []string{"auth", "pass", "passwd", "pw", "pwd"}
	endings = []string{"password", "secret"}
)

func hasPassword(u *url.URL) bool {
	if _, given := u.User.Password(); given || strings.Contains(u.Opaque, "@") {
		return true
	}
	for name := range u.Query() {
		name = strings.ToLower(name)
		ends := func(end string) bool { return strings.HasSuffix(name, end) }
		if slices.Contains(secrets, name) || slices.ContainsFunc(endings, ends) {
			return true
		}
	}
	return false
}

// read reads the file once: it may be a pipe, like the <(...) of a shell.
func (b *backendFlags) read() (string, error) {
	if b.held != "" {
		return b.held, nil
	}
	text, err := os.ReadFile(b.file)
	switch {
	case err != nil && isLikeURL(b.file): // which may have a password
		return "", usage("--backend-file takes the path of a file that holds the URL; put a URL with a password into "+
			"such a file or into %s, and one without after --backend", backendEnv)
	case err != nil:
		return "", usage("--backend-file: %w", err)
	}
	if b.held = strings.TrimSpace(string(text)); b.held != "" {
		return b.held, nil
	}
	return "", usage("--backend-file: %s is empty; it should hold a URL like redis://user:password@host:6379", b.file)
}

// isLikeURL reports whether a path was meant to be a URL.
func isLikeURL(path string) bool {
	scheme, rest, ok := strings.Cut(path, ":")
	return ok && (strings.HasPrefix(rest, "//") || checkScheme(scheme) == nil)
}

// A store is the backend, opened.
type store struct {
	*holdfast.Client
	driver driver.Driver
	shown  string        // the URL without its password
	flags  *backendFlags // by which it was opened; nil in tests
	leaves bool          // what it has taken is not given back when it is closed
}

// Queue returns who holds a lock and who waits for it. A name that no lock can have is an error.
func (s *store) Queue(ctx context.Context, name string) ([]holdfast.Entry, error) {
	if err := s.checkName(name); err != nil {
		return nil, err
	}
	return s.Client.Queue(ctx, name)
}

// checkName refuses a name that no lock on this backend can have.
func (s *store) checkName(name string) error {
	t := s.driver.Traits()
	err := driver.Validate(driver.Claim{Name: name, ID: "any", Weight: 1, Limit: 1, TTL: probeTTL(t)}, t)
	if errors.Is(err, holdfast.ErrInvalidName) {
		return err
	}
	return nil
}

// locate returns the URL of the backend, and how to show it: without its password.
func (b *backendFlags) locate() (rawURL, shown string, err error) {
	if rawURL, err = b.choose(); err != nil {
		return "", "", err
	}
	u, err := parseURL(rawURL)
	if u == nil {
		return "", "", err
	}
	return rawURL, driver.Redact(u), err
}

// find is locate that makes nothing: what is not there yet stays so. It returns the URL as it was given, too.
func (b *backendFlags) find() (rawURL string, u *url.URL, err error) {
	rawURL, given, err := b.given()
	if !given {
		b.isOwn = true
		rawURL, err = ownURL()
	}
	if err != nil {
		return "", nil, err
	}
	u, err = parseURL(rawURL)
	return rawURL, u, err
}

// parseURL returns the URL with an error when it can be parsed, but is for no backend.
func parseURL(rawURL string) (*url.URL, error) {
	u, err := driver.ParseURL(rawURL)
	if err != nil {
		return nil, usage("%w", err)
	}
	return u, checkURL(u)
}

// checkURL refuses a URL that is for none of our backends, or cannot lead to one. It never repeats what may be a part
// of a password.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "":
		return usage("the backend must be a URL; that of a file has file: before its path, like file:/path/to/locks.db")
	case u.Scheme == "mem":
		return usage("mem: is the memory of one process, and each command is a process of its own, so it would " +
			"exclude nobody; use file:/path/to/locks.db")
	default:
		return cmp.Or(checkScheme(u.Scheme), checkFilled(u))
	}
}

// open connects to the backend.
func (b *backendFlags) open(ctx context.Context, opts ...holdfast.Option) (*store, error) {
	rawURL, shown, err := b.locate()
	if err != nil {
		return nil, err
	}
	d, err := b.connect(ctx, rawURL, shown)
	switch {
	case err == nil:
	case b.isOwn:
		return nil, noOwnFile(err)
	default:
		return nil, notServed(rawURL, err)
	}
	b.notice(ctx, d)
	return &store{Client: holdfast.New(d, append(ownPatience(), opts...)...), driver: d, shown: shown,
		flags: b}, nil
}

// connect opens the driver, one that tells what is asked of it with --trace.
func (b *backendFlags) connect(ctx context.Context, rawURL, shown string) (driver.Driver, error) {
	begin := time.Now()
	d, err := openInTime(ctx, rawURL)
	if b.trace {
		(&tracer{tell: b.tell}).told(begin, "open", shown, "", "opened", err)
	}
	if err != nil || !b.trace {
		return d, err
	}
	return traced(d, b.tell), nil
}

// openLimit bounds how long the command waits until the backend is open. A file may be new, and on a slow disk.
const openLimit = 10 * time.Second

// errNotOpened is why a backend was given up.
var errNotOpened = fmt.Errorf("not open after %v", openLimit)

// openInTime opens a driver within openLimit. The context of one that is open in time does not end by that, because a
// driver may go on with it.
func openInTime(ctx context.Context, rawURL string) (driver.Driver, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer time.AfterFunc(openLimit, func() { giveUp(errNotOpened) }).Stop()
	d, err := driver.Open(ctx, rawURL)
	if err != nil && context.Cause(ctx) == errNotOpened && !errors.Is(err, errNotOpened) {
		err = fmt.Errorf("%w: %w", errNotOpened, err)
	}
	return d, err
}

// notice tells what explains how the backend will behave.
func (b *backendFlags) notice(ctx context.Context, d driver.Driver) {
	if b.warn == nil {
		return
	}
	notable, _ := driver.Check(ctx, d, true) // an error is no reason not to go on
	for _, f := range notable {
		b.warn(fmt.Errorf("%s; %s", f.Fact, f.Advice))
	}
}

// startLimit bounds how long the command waits for the backend's first answer.
const startLimit = 3 * time.Second

// ownPatience is that of a command, which somebody may have started before the backend, or with a wrong URL: it ends
// soon with exitUnavailable. Once it waits for the lock, only --wait ends that.
func ownPatience() []holdfast.Option {
	return []holdfast.Option{holdfast.WithFirstAnswer(startLimit), holdfast.WithPatience(holdfast.Endless)}
}

// notServed gives an error of opening a backend its exit code. What is wrong with the URL, and what it asks for that
// there is not, is a matter of usage.
func notServed(rawURL string, err error) error {
	switch {
	case isUnreachable(err):
		return unavailable(err)
	case errors.Is(err, errors.ErrUnsupported), isWrong(rawURL):
		return usage("%w", err)
	default:
		return unavailable(err)
	}
}

// isWrong reports whether a URL is refused before anybody is asked. Errors alone do not tell that: what a server says
// has as many types as there are engines.
func isWrong(rawURL string) bool {
	over, end := context.WithCancel(context.Background())
	end()
	d, err := driver.Open(over, rawURL)
	if err == nil {
		_ = (&store{driver: d}).disconnect() // nothing is expected of it
	}
	return err != nil && !isUnreachable(err)
}

// isUnreachable reports whether an error is of the state of a backend, or of the way to it, as far as errors tell.
func isUnreachable(err error) bool {
	var (
		network     net.Error
		system      syscall.Errno
		certificate *tls.CertificateVerificationError
		answer      *driver.ServerError
	)
	return errors.Is(err, errNotOpened) ||
		errors.Is(err, driver.ErrRefused) || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) ||
		errors.As(err, &network) || errors.As(err, &system) || errors.As(err, &certificate) ||
		errors.As(err, &answer) || isForeign(err)
}

// isForeign reports whether what answered speaks another protocol. Rueidis and gRPC have only texts for that.
func isForeign(err error) bool {
	var noTLS tls.RecordHeaderError
	return errors.As(err, &noTLS) || strings.Contains(err.Error(), "received unknown message type: ") ||
		strings.Contains(err.Error(), "looked like an HTTP/1.1 header")
}

// isHangUp reports whether what answered closed the connection, and the error does not explain that. The SQL driver
// for MySQL and gRPC have only texts for it.
func isHangUp(err error) bool {
	for _, explained := range []string{"TLS", "hangs up", "closed the connection"} {
		if strings.Contains(err.Error(), explained) {
			return false
		}
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || strings.HasSuffix(err.Error(), "invalid connection")
}

// closeLimit bounds how long the command waits for the backend at its end. What it then does not know to be given back
// ends with its TTL.
const closeLimit = 2 * time.Second

// close gives back what is held or waited for, while ctx lasts, and disconnects.
func (s *store) close(ctx context.Context) error {
	if s.leaves {
		return s.disconnect()
	}
	return errors.Join(s.Client.Close(ctx), s.disconnect())
}

// disconnectLimit bounds how long a driver may take to close its connections: this process ends, and closes them
// anyway.
const disconnectLimit = 300 * time.Millisecond

func (s *store) disconnect() error {
	closed := make(chan error, 1)
	go func() { closed <- s.driver.Close() }() // ends with this process at the latest
	select {
	case err := <-closed:
		return err
	case <-time.After(disconnectLimit):
		return nil
	}
}

// abandon is close where nothing is expected of it any more.
func (s *store) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_ = s.close(ctx) // what is left ends with its TTL
}

// use opens the backend for a verb that looks at locks or breaks them.
func (a *app) use(ctx context.Context, verb func(*store) error, opts ...holdfast.Option) error {
	s, err := a.backend.open(ctx, opts...)
	if err != nil {
		return err
	}
	defer s.abandon(ctx)
	if err := verb(s); err != nil {
		return cmp.Or(a.unwritten(err), s.failed(err))
	}
	return nil
}

// failed gives an error its exit code, and says where the backend is if that is the trouble.
func (s *store) failed(err error) error {
	var e *exit
	if err = failed(s.flags.explain(err)); errors.As(err, &e) && e.code == exitUnavailable {
		return &exit{code: e.code, err: fmt.Errorf("backend %s: %w", s.shown, e.err), advice: e.advice}
	}
	return err
}
