#!/bin/sh
# Says what each engine adds to the command: builds it as for a release, whole and without each engine.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# size prints how many bytes the command has that is built with some tags.
size() {
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -tags "grpcnotrace $1" -o "$folder/holdfast" ./cmd/holdfast
	wc -c <"$folder/holdfast"
}

# row prints a size in MB.
row() { awk -v what="$1" -v bytes="$2" 'BEGIN { printf "%-28s %6.1f MB\n", what, bytes / 1e6 }'; }

engines='no_sqlite no_redis no_etcd no_zookeeper no_mysql no_postgres'
whole=$(size '')
row whole "$whole"
row 'without any engine' "$(size "$engines")"
for tag in $engines; do
	row "-tags $tag saves" $((whole - $(size "$tag")))
done
