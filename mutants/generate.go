package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sources are the folders whose files are changed, for each driver: those without a slash at the end, without what is
// below them; and files that are left out, after a !.
var sources = map[string][]string{
	"holdfast":    {"."},
	"memlock":     {"memlock"},
	"leased":      {"internal/leased"},
	"quorum":      {"quorum"},
	"redislock":   {"redislock", "redislock/lua/"},
	"sqllock":     {"sqllock", "sqllock/internal/sqlite/"},
	"sqlmysql":    {tables, tables + "/mysql/", "!" + tables + "/postgres.go"},
	"sqlpostgres": {tables, tables + "/postgres/", "!" + tables + "/mysql.go"},
	"etcdlock":    {"etcdlock"},
	"zklock":      {"zklock"},
}

// tables is the driver for both of two servers.
const tables = "sqllock/internal/servertables"

// explainedFile says of mutants that survive why that is right.
const explainedFile = faultsDir + "/explained.txt"

// A generation is what `mutants generate` is asked to do.
type generation struct {
	drivers  []string
	wanted   int           // mutants for each driver; all of them if it is zero
	seed     uint64        // for which of them
	patience time.Duration // for one
	match    string        // part of the name of a mutant
	json     bool
}

func parseGeneration(args []string, stderr io.Writer) (g generation, err error) {
	set := flag.NewFlagSet("mutants generate", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.IntVar(&g.wanted, "n", 50, "how many `mutants` of each driver; 0 for all")
	set.Uint64Var(&g.seed, "seed", 1, "which of them")
	set.DurationVar(&g.patience, "patience", 0, "how long tests may take; by default 30s and thrice what they take")
	set.StringVar(&g.match, "match", "", "only mutants whose `name` has this in it")
	set.BoolVar(&g.json, "json", false, "write the results as JSON")
	if err := set.Parse(args); err != nil {
		return g, err
	}
	if g.drivers = set.Args(); len(g.drivers) == 0 {
		return g, errors.New("generate needs a DRIVER")
	}
	for _, name := range g.drivers {
		if sources[name] == nil {
			return g, fmt.Errorf("no sources are named for %s; add them to the table in generate.go", name)
		}
	}
	return g, nil
}

// generate makes mutants of drivers, and fails if one survives that nobody has explained.
func generate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	g, err := parseGeneration(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	tree, err := snapshot(ctx)
	defer os.RemoveAll(tree)
	if err != nil {
		return err
	}
	reasons, err := explained(filepath.Join(tree, explainedFile))
	if err != nil {
		return err
	}
	var errs []error
	var all []report
	for _, name := range g.drivers {
		r, err := g.try(ctx, tree, name, reasons, stdout)
		all = append(all, r)
		errs = append(errs, err)
	}
	if g.json {
		errs = append(errs, json.NewEncoder(stdout).Encode(all))
	}
	return errors.Join(errs...)
}

// try tries the mutants of one driver.
func (g generation) try(
	ctx context.Context, tree, name string, reasons map[string]string, stdout io.Writer,
) (report, error) {
	r := report{Driver: name, Seed: g.seed}
	found, err := mutantsOf(tree, sources[name])
	if err != nil {
		return r, err
	}
	b, err := newBench(ctx, tree, tests[name], g.patience)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	defer os.RemoveAll(b.dir)
	if g.json {
		stdout = io.Discard
	}
	for _, m := range g.sample(found) {
		if g.wanted > 0 && len(r.Tried) >= g.wanted {
			break
		}
		o, err := b.try(ctx, m)
		if err != nil {
			return r, fmt.Errorf("%s: %w", m.name(), err)
		}
		if !o.counts() {
			r.Uncounted++
			continue
		}
		if o.Verdict == survived && reasons[m.key()] != "" {
			o.Verdict, o.Reason = isExplained, reasons[m.key()]
		}
		r.add(o)
		fmt.Fprintln(stdout, o)
	}
	fmt.Fprintln(stdout, r)
	if n := r.count(survived); n > 0 {
		return r, fmt.Errorf("%s: %d survive; kill each with a test, or explain it in %s", name, n, explainedFile)
	}
	return r, nil
}

// sample puts mutants in the order in which they are tried.
func (g generation) sample(found []mutant) []mutant {
	var wanted []mutant
	for _, m := range found {
		if strings.Contains(m.name(), g.match) {
			wanted = append(wanted, m)
		}
	}
	random := rand.New(rand.NewPCG(g.seed, 0))
	random.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
	return wanted
}

// mutantsOf returns all mutants of the files in folders of a tree.
func mutantsOf(tree string, folders []string) ([]mutant, error) {
	var all []mutant
	for _, folder := range folders {
		if strings.HasPrefix(folder, "!") {
			continue
		}
		err := filepath.WalkDir(filepath.Join(tree, folder), func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(tree, path)
			switch {
			case err != nil:
				return err
			case e.IsDir() && name != filepath.Clean(folder) && !strings.HasSuffix(folder, "/"):
				return fs.SkipDir
			case e.IsDir(), slices.Contains(folders, "!"+filepath.ToSlash(name)):
				return nil
			}
			found, err := mutantsIn(path, filepath.ToSlash(name))
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is nothing to change in %q", folders)
	}
	return all, nil
}

// mutantsIn returns the mutants of a file, by its language.
func mutantsIn(path, name string) ([]mutant, error) {
	l, script := languages[filepath.Ext(name)]
	isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
	if !script && !isGo {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if isGo {
		return mutateGo(name, string(content))
	}
	return mutateScript(name, string(content), l), nil
}

// explained reads the reasons for which mutants may survive, by their keys. A line is a mutant's name and the reason;
// one that begins with # says nothing.
func explained(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	reasons := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		parts := strings.Split(name, ":")
		if len(parts) != 4 || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: want FILE:LINE:KIND:HASH and a reason, and there is %q", file, line)
		}
		reasons[parts[0]+":"+parts[2]+":"+parts[3]] = strings.TrimSpace(reason)
	}
	return reasons, err
}
