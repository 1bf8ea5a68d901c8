#!/usr/bin/env bash
# Installs the Debian packages that are missing; does nothing, quickly, when all are there.
# setup.sh tests: those of the tests, too: a browser of 290 MB that looks at the report page, what Python compiles with,
# and Mesa, by which pictures are drawn without a display.
# setup.sh aarch64: a compiler and an emulator for aarch64.
# ISOCLOTH_SETUP=off leaves the machine alone: the packages are then found through CMAKE_PREFIX_PATH.
set -euo pipefail
[[ ${ISOCLOTH_SETUP:-on} != off ]] || exit 0
packages=(g++ cmake ninja-build ccache libeigen3-dev libhdf5-dev libmetis-dev libnlopt-dev nlohmann-json3-dev libcli11-dev
  libjs-three libgtest-dev clang-format git)
[[ ${1:-} != aarch64 ]] || packages+=(g++-aarch64-linux-gnu qemu-user)
[[ ${1:-} != tests ]] || packages+=(chromium-headless-shell python3-dev python3-venv libegl1 libgl1-mesa-dri)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: not a Debian system; going on, but these must be there under their local names: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  as_root=(sudo)
  [[ -t 0 ]] || as_root+=(-n)
  if ! command -v sudo >/dev/null || ! "${as_root[@]}" true; then
    echo "setup: packages are missing and this is neither root nor sudo; run: apt-get install ${missing[*]} (or set" \
      "ISOCLOTH_SETUP=off if they are elsewhere)" >&2
    exit 1
  fi
fi

quiet_apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }
install_missing() { quiet_apt install -y --no-install-recommends "${missing[@]}"; }

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A bare image has no package lists and an old one has stale ones: only then are they fetched.
if ! install_missing >"$log" 2>&1 && ! { quiet_apt update && install_missing; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get failed (its last lines are above); mend it, or run: apt-get install ${missing[*]}" >&2
  exit 1
fi
