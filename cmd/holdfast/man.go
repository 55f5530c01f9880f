//go:build man

package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func init() { extraVerbs = append(extraVerbs, (*app).manVerb) }

// manVerb is holdfast man, which only the program has that makes the manual pages of a release.
func (a *app) manVerb() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages to a folder",
		Hidden: true,
		Args:   takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			c.Root().DisableAutoGenTag = true
			date, err := dateOfSource()
			if err != nil {
				return err
			}
			header := doc.GenManHeader{Section: "1", Date: &date, Source: "Holdfast", Manual: "Holdfast"}
			return doc.GenManTree(c.Root(), &header, args[0])
		},
	}
}

// dateOfSource is the time that the pages shall have, so that they are the same whenever they are made.
func dateOfSource() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, usage("set SOURCE_DATE_EPOCH to the date of the pages, in seconds from 1970")
	}
	return time.Unix(seconds, 0).UTC(), nil
}
