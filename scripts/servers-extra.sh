#!/bin/sh
# Unpacks newer servers than the system's beside it: MySQL 9, Valkey 8 and PgBouncer 1.24, each with the libraries that it was
# built with, in a folder of its own. Nothing is installed; removing the folder removes them. `make test-extra` tests on them.
set -eu

home="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/extra"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

command -v apt-get >/dev/null 2>&1 && [ -e $keyring ] || {
	echo "MySQL, Valkey and PgBouncer are unpacked from Debian's packages, and this is not Debian. Put a program or script" >&2
	echo "$home/mysql/mysqld, $home/valkey/valkey-server and $home/pgbouncer/pgbouncer there by hand, with what they need." >&2
	exit 1
}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' | grep -v security | head -n 1)

# unpack NAME PACKAGE PROGRAM SUITE...: the program of a package, from the first suite that has it.
unpack() {
	name=$1 package=$2 program=$3
	shift 3
	[ ! -x "$home/$name/${program##*/}" ] || return 0
	echo "unpacking $package"
	rm -rf "${home:?}/$name"
	mkdir -p "$home/$name/root"
	fetch "$package" "$@"
	for deb in "$work"/cache/archives/*.deb; do
		dpkg-deb --extract "$deb" "$home/$name/root"
	done
	start "$home/$name" "$program"
}

# fetch PACKAGE SUITE...: the package and all that it needs, as if nothing were installed.
fetch() {
	package=$1
	shift
	rm -rf "$work"
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	for suite in "$@"; do
		echo "deb [signed-by=$keyring] $mirror $suite main"
	done >"$work/sources.list"
	ours="-qq -o Acquire::Retries=3 -o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=- -o Dir::State=$work/state
		-o Dir::State::status=$work/status -o Dir::Cache=$work/cache -o APT::Sandbox::User=root -o pkgCacheGen::Essential=none"
	# shellcheck disable=SC2086
	apt-get $ours update
	# shellcheck disable=SC2086
	apt-get $ours install --yes --download-only --no-install-recommends "$package" >/dev/null
}

# start FOLDER PROGRAM: a script that runs the program with its own libraries.
start() {
	root="$1/root"
	loader=$(find -L "$root/lib64" "$root/usr/lib64" "$root/lib" "$root/usr/lib" -name 'ld-linux*.so.*' 2>/dev/null | head -n 1)
	libraries=$(find -L "$root/usr/lib" "$root/lib" -maxdepth 1 -type d -name '*-linux-gnu*' 2>/dev/null | paste -sd : -)
	script="$1/${2##*/}"
	printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$root/$2" >"$script"
	chmod 755 "$script"
	"$script" --version
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unpack valkey valkey-server usr/bin/valkey-server bookworm-backports bookworm
unpack mysql mysql-server-core usr/sbin/mysqld sid
unpack pgbouncer pgbouncer usr/sbin/pgbouncer trixie
