#!/bin/sh
# Prints the packages of the modules that others can import or install. The remaining modules only test and show these.
set -eu
go list -m -f '{{.Dir}}/...' | grep -vE '/(lab|bench|mutants|systemtest|examples|[a-z]+test)/\.\.\.$'
