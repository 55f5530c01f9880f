package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/driver"
)

// Bounds of completing names: somebody waits at a prompt.
const (
	completionTime = 700 * time.Millisecond // for connecting and listing; disconnecting has disconnectLimit
	mostCompleted  = 200
)

// completeName completes a verb's only argument, or the first, with the names of locks that are held or waited for. It
// says nothing of what goes wrong, and makes no file: a shell asks for it while somebody types.
func (a *app) completeName(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.backend.namesFrom(begun), cobra.ShellCompDirectiveNoFileComp
}

// completeCommand is completeName where a command follows the name.
func (a *app) completeCommand(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeName(c, args, begun)
}

// namesFrom returns names that start with prefix, or none if that takes long.
func (b *backendFlags) namesFrom(prefix string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime+disconnectLimit)
	defer cancel()
	found := make(chan []string, 1)
	go func() { found <- b.listNames(ctx, prefix) }() // ends with this process at the latest
	select {
	case names := <-found:
		return names
	case <-ctx.Done():
		return nil
	}
}

func (b *backendFlags) listNames(ctx context.Context, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	rawURL, u, err := b.find()
	if err != nil || !isThere(u, b.isOwn) {
		return nil
	}
	d, err := driver.Open(ctx, rawURL)
	if err != nil {
		return nil
	}
	defer (&store{driver: d}).disconnect()
	return someNames(ctx, d, prefix)
}

// someNames returns so many names as somebody may want to look at.
func someNames(ctx context.Context, d driver.Driver, prefix string) (names []string) {
	for name, err := range driver.List(ctx, d, prefix) {
		if err != nil || len(names) == mostCompleted {
			break
		}
		if isPlain().MatchString(name) { // which a lock that holds notes is not
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isPlain says which names are completed: those that mean nothing else to a shell. They are other people's text, and
// what is completed may be run.
var isPlain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_./:@%+,][\pL\pN_./:@%+,-]*$`)
})

// isThere reports whether a backend can be opened without making it: the file of others, or our own where it is safe.
func isThere(u *url.URL, isOwn bool) bool {
	if u.Scheme != "file" {
		return true
	}
	relative, err := url.PathUnescape(u.Opaque)
	if err != nil {
		return false
	}
	path := filepath.FromSlash(u.Path + relative)
	if isOwn && !isOwnFolder(filepath.Dir(path)) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && hasClients(path)
}

// hasClients reports whether a file has the folder of clients beside it. Opening one without makes the folder, and
// tables in the database of another program.
func hasClients(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	info, err := os.Lstat(path + ".clients")
	return err == nil && info.IsDir()
}

func isOwnFolder(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && info.IsDir() && checkPrivate(folder, info) == nil
}
