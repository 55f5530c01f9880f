#!/bin/sh
# Prints the packages of the modules that others can import or install. The remaining modules only test and show these, and
# are not released; the same rule is in internal/devtools/tree.
set -eu
go list -m -f '{{.Dir}}/...' | grep -vE '/(lab|bench|mutants|systemtest|examples|[a-z]+test)/\.\.\.$'
