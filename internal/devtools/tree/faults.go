package tree

import "fmt"

// Faults lists what would keep people from getting the released modules, and this tree from building with its own.
func Faults(top string) ([]string, error) {
	modules, err := Load(top)
	if err != nil {
		return nil, err
	}
	work, err := Work(top)
	if err != nil {
		return nil, err
	}
	byPath, tied := make(map[string]Module), make(map[string]string)
	for _, m := range modules {
		byPath[m.Path()] = m
	}
	for _, r := range work.Replace {
		tied[r.Old.Path] = r.Old.Version
	}
	var faults []string
	for _, m := range modules {
		faults = append(faults, m.faults(byPath, tied)...)
	}
	return faults, nil
}

func (m Module) faults(byPath map[string]Module, tied map[string]string) (faults []string) {
	complain := func(format string, args ...any) {
		faults = append(faults, m.Folder+"/go.mod "+fmt.Sprintf(format, args...))
	}
	for _, r := range m.File.Replace {
		complain("replaces %s; go install refuses that, and others do not see it", r.Old.Path)
	}
	for _, r := range m.File.Require {
		switch needed := r.Mod; {
		case !IsOurs(needed.Path):
		case m.Released() && !byPath[needed.Path].Released():
			complain("is released and requires %s, which is not", needed.Path)
		case tied[needed.Path] != needed.Version:
			complain("requires %s %s, which go.work does not replace; it replaces %q",
				needed.Path, needed.Version, tied[needed.Path])
		}
	}
	return faults
}
