package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unsetHint is what most often makes an empty text.
const unsetHint = "is a shell variable not set?"

// refuseEmpty refuses flags with an empty text, which is what a shell makes of a variable that is not set. Without this
// they would pass for flags that were not given, and mean another backend, or all claims in the place of one.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = usage("--%s is empty; %s Give it a value, or leave it out", f.Name, unsetHint)
		}
	})
	return err
}

// hasEmpty reports whether one of the arguments is empty.
func hasEmpty(args []string) bool { return slices.Contains(args, "") }

// checkFilled refuses a URL with a hole where a host or the value of a parameter should be. What drivers take for it is
// this machine, or a connection without a certificate.
func checkFilled(u *url.URL) error {
	for name, values := range u.Query() {
		if name != mayBeEmpty && hasEmpty(values) {
			return usage("%s of the backend URL is empty; %s Give it a value, or leave it out",
				nameParameter(u, name), unsetHint)
		}
	}
	return checkServer(u)
}

// nameParameter names a parameter of a URL, unless it may be a part of a password that has a question mark.
func nameParameter(u *url.URL, name string) string {
	if strings.Contains(u.RawQuery, "@") || !likeVerb().MatchString(name) {
		return "a parameter"
	}
	return "the parameter " + name
}

// mayBeEmpty is the parameter that means something when it is empty: names as other libraries have them.
const mayBeEmpty = "prefix"

// checkServer refuses the URL of a database that names no server, where sqllock would take this machine's.
func checkServer(u *url.URL) error {
	elsewhere := slices.ContainsFunc([]string{"socket", "host", "service"}, u.Query().Has)
	if hasTables(u.Scheme) && u.Host == "" && !elsewhere {
		return usage("the backend URL names no server; %s Name it, if need be localhost", unsetHint)
	}
	return nil
}
