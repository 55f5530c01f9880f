package main

import "slices"

// A group is a part of the navigation.
type group struct {
	Name  string
	Pages []*page
}

// An entry of the navigation is a page. Where it has no label the title of the page is one.
type entry struct{ source, label string }

// order is the navigation. Pages that it does not name come last, in a group of their own.
var order = []struct {
	name    string
	entries []entry
}{
	{"Start", []entry{
		{front, "Holdfast"},
		{"docs/choosing.md", ""},
		{"docs/command.md", ""},
		{"docs/running.md", ""},
		{"docs/coming-from.md", ""},
	}},
	{"Quick starts", []entry{
		{"docs/quickstart/README.md", "Which one"},
		{"docs/quickstart/file.md", "A file"},
		{"docs/quickstart/redis.md", "Redis"},
		{"docs/quickstart/redlock.md", "Redlock"},
		{"docs/quickstart/etcd.md", "etcd"},
		{"docs/quickstart/zookeeper.md", "ZooKeeper"},
		{"docs/quickstart/mysql.md", "MariaDB and MySQL"},
		{"docs/quickstart/postgres.md", "PostgreSQL"},
	}},
	{"Engines", []entry{
		{"docs/file.md", "A file"},
		{"docs/redis.md", "Redis"},
		{"docs/redlock.md", "Redlock"},
		{"docs/etcd.md", "etcd"},
		{"docs/zookeeper.md", "ZooKeeper"},
		{"docs/sql.md", "MySQL, MariaDB, PostgreSQL"},
		{"docs/sessions.md", "Locks of database sessions"},
		{"docs/transactions.md", ""},
		{"docs/shedlock.md", "ShedLock's table"},
		{"docs/layouts.md", "Locks of other libraries"},
	}},
	{"In programs", []entry{
		{"docs/fencing.md", "Fencing"},
		{"docs/testing.md", ""},
		{"docs/vet.md", ""},
		{"docs/adapters.md", "Adapters for libraries"},
	}},
	{"Promises", []entry{
		{"docs/guarantees.md", "Guarantees"},
		{"docs/faults.md", "Faults"},
		{"docs/proof.md", "Proof"},
		{"docs/versions.md", ""},
		{"docs/lab.md", ""},
		{"docs/speed.md", ""},
		{"SECURITY.md", ""},
		{"CHANGELOG.md", ""},
	}},
	{"For contributors", []entry{
		{"CONTRIBUTING.md", ""},
		{"docs/architecture.md", ""},
		{"docs/drivers.md", ""},
		{"docs/design-notes/README.md", ""},
		{"docs/design-notes/queue-of-claims.md", "A queue of claims"},
		{"docs/design-notes/deadline.md", "The deadline"},
		{"docs/design-notes/keeper.md", "The keeper"},
		{"docs/design-notes/lone-claims.md", "Lone claims on Redis"},
		{"docs/design-notes/notes.md", "Notes of who did it"},
		{"docs/design-notes/releases.md", "Releases"},
		{"docs/design-notes/root-package.md", "The root package"},
		{"docs/design-notes/speed.md", ""},
	}},
}

// grouped puts the pages into the order of the navigation, and gives each its label.
func (s *site) grouped(sources []string) (groups []group) {
	left := slices.Clone(sources)
	for _, part := range order {
		g := group{Name: part.name}
		for _, e := range part.entries {
			i := slices.Index(left, e.source)
			if i < 0 {
				continue
			}
			left = slices.Delete(left, i, i+1)
			g.Pages = append(g.Pages, s.labelled(e))
		}
		groups = appendGroup(groups, g)
	}
	more := group{Name: "More"}
	for _, source := range left {
		more.Pages = append(more.Pages, s.labelled(entry{source: source}))
	}
	return appendGroup(groups, more)
}

func appendGroup(groups []group, g group) []group {
	if len(g.Pages) == 0 {
		return groups
	}
	return append(groups, g)
}

func (s *site) labelled(e entry) *page {
	p := s.pages[e.source]
	p.label = e.label
	if p.label == "" && len(p.headings) > 0 {
		p.label = p.title()
	}
	return p
}

// inOrder lists the pages as one reads them one after another.
func (s *site) inOrder() (pages []*page) {
	for _, g := range s.groups {
		pages = append(pages, g.Pages...)
	}
	return pages
}
