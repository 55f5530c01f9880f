#!/bin/sh
# Installs the servers that the tests need, where that can be done; says what to do where it cannot.
set -eu

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need redis-server redis-server
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "The tests need these servers, which are not installed:$missing" >&2
	echo "Install them with this system's package manager, so that their programs are on the PATH; then try again." >&2
	exit 1
fi

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
echo "installing:$missing"

# Installing a server must not start it: the tests start their own, on ports of their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null
	$sudo chmod 755 $policy
	trap '$sudo rm -f $policy' EXIT
fi
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
