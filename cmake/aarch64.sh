#!/usr/bin/env bash
# aarch64.sh: builds the command and the tests of kernels for aarch64 (vectors of NEON, 128 bits) with Debian's
# cross compiler, into build/aarch64, and runs the shaken sheet of the paper and the tests of lanes by an emulator.
# Libraries of aarch64 are unpacked into build/aarch64/sysroot; the machine itself gets a compiler and the emulator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash cmake/setup.sh aarch64
root=$PWD/build/aarch64 sysroot=$PWD/build/aarch64/sysroot

if [[ ! -e $sysroot/complete ]]; then
  rm -rf "$sysroot"
  mkdir -p "$root"/apt/{lists,cache/archives}/partial "$sysroot"
  : >"$root/apt/status"
  cat >"$root/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$root/apt";
Dir::State::lists "$root/apt/lists";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt/cache";
END
  export APT_CONFIG=$root/apt/apt.conf
  apt-get -qq update
  apt-get -qq install -y --download-only --no-install-recommends libc6-dev libstdc++-12-dev libeigen3-dev libhdf5-dev \
    libmetis-dev libnlopt-dev nlohmann-json3-dev libcli11-dev libjs-three libgtest-dev
  unset APT_CONFIG
  for package in "$root"/apt/cache/archives/*.deb; do dpkg -x "$package" "$sysroot"; done
  touch "$sysroot/complete"
fi

cmake --preset release -B "$root" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DISOCLOTH_SYSROOT="$sysroot" \
  -DISOCLOTH_SIMD=baseline -DISOCLOTH_UNITY=ON -DISOCLOTH_BUILD_BENCH=OFF
cmake --build "$root" --target isocloth_command test_kernels
emulator=(qemu-aarch64 -L "$sysroot")
"${emulator[@]}" "$root/bin/isocloth" run bench/scenes/shake_fast_9x9.json -o "$root/shake_fast_9x9" --overwrite --quiet
# A fork of a program with threads ends the emulator; blocks of concurrent threads take it many minutes.
"${emulator[@]}" "$root/bin/test_kernels" --gtest_brief=1 --gtest_filter='*Lane*:*Pack*:Impulse*:Reduce*:Quad*'
