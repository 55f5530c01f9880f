#!/bin/sh
# Installs what the tests need and this machine lacks, where that can be done, and says what to do where it cannot.
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need redis-server redis-server
need mariadbd mariadb-server
[ -e /usr/lib/galera/libgalera_smm.so ] || missing="$missing galera-4"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || need postgres postgresql
[ -x /usr/sbin/pgbouncer ] || need pgbouncer pgbouncer
need java default-jre-headless
[ -e /usr/share/java/zookeeper.jar ] || missing="$missing zookeeper"
/usr/bin/python3 -c 'import redis' 2>/dev/null || missing="$missing python3-redis"
# Other clients of ZooKeeper, to lock together with.
need javac default-jdk-headless
[ -e /usr/share/java/curator-recipes.jar ] || missing="$missing libcurator-recipes-java libcurator-framework-java libcurator-client-java"
/usr/bin/python3 -c 'import kazoo' 2>/dev/null || missing="$missing python3-kazoo"
command -v chromium >/dev/null 2>&1 || need chromium-headless-shell chromium-headless-shell # for the pages of the lab
need node nodejs
need npm npm
need systemd-socket-activate systemd # commands under systemd, without its being the init process
need unshare util-linux
need gcc "gcc libc6-dev" # for the race detector

install() {
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "The tests need what Debian calls:$missing" >&2
		echo "Install that with this system's package manager, so that the programs are on the PATH; then try again." >&2
		exit 1
	fi
	as_root=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null 2>&1 || {
			echo "The tests need more than there is; as root: apt-get install -y --no-install-recommends$missing" >&2
			exit 1
		}
		as_root="sudo"
	fi
	echo "installing:$missing"
	hold_back_services
	$as_root apt-get -qq -o Acquire::Retries=3 update
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends $missing >/dev/null
}

# Installing a server must not start it: the tests start their own, on ports of their own.
hold_back_services() {
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
		$as_root chmod 755 $policy
		trap '$as_root rm -f $policy' EXIT
	fi
}

[ -z "$missing" ] || install

# The package redlock of npm, to lock together with. One test needs it, so nobody who cannot reach npm's registry has to go
# without all others; where nothing at all may be skipped that fails.
node_redlock="${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/node-redlock-4.2.0"
[ -e "$node_redlock/node_modules/redlock" ] || {
	echo "installing: the package redlock of npm"
	npm install --silent --no-audit --no-fund --no-package-lock --prefix "$node_redlock" redlock@4.2.0 ioredis@5.11.1 || {
		[ "${HOLDFAST_NO_SKIP:-}" != all ] || exit 1
		rm -rf "$node_redlock"
		echo "npm could not install redlock, so the test beside it is skipped: TestNodeRedlock in systemtest/peers" >&2
	}
}

# etcd is built from its source, once, so that no test waits for that.
echo "etcd: built at first use, which takes a minute or two"
HOLDFAST_NO_SKIP=1 go test -count=1 -run '^TestEtcd$' ./internal/servers
