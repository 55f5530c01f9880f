package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Save writes the report into a folder, in place of the last one of the same engine. A measure is a line.
func (r *Report) Save(folder string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(append(text, '\n'), []byte("},{"), []byte("},\n{"))
	return os.WriteFile(fileOf(folder, r.Engine), text, 0o644)
}

// Load reads the last report of an engine from a folder.
func Load(folder, engine string) (*Report, error) {
	name := fileOf(folder, engine)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &r, nil
}

func fileOf(folder, engine string) string { return filepath.Join(folder, engine+".json") }
