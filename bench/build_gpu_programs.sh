#!/usr/bin/env bash
# build_gpu_programs.sh BUILD [CMAKE_ARGUMENT...]: builds in the folder BUILD what gpu_check.py runs: the CUDA plugin,
# the command, the benchmarks, and the tests that need a GPU. What ptxas says of every kernel is in BUILD/kernels.log.
# Goes on where it was ended.
# ISOCLOTH_CUDA_ARCHITECTURES: compute capabilities, default those of "80 90 100" that nvcc has; ISOCLOTH_JOBS:
# compilers at once; ISOCLOTH_SIMD: instruction sets of the CPU, default all.
set -euo pipefail
if (($# < 1)); then
  echo "usage: $0 BUILD [CMAKE_ARGUMENT...]" >&2
  exit 2
fi
build=$1
shift
[[ $build == /* ]] || build=$PWD/$build
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
  echo "build_gpu_programs: $*" >&2
  exit 1
}
nvcc=$(command -v nvcc || true)
[[ -n $nvcc || ! -x /usr/local/cuda/bin/nvcc ]] || nvcc=/usr/local/cuda/bin/nvcc
[[ -n $nvcc ]] || fail "found no nvcc, neither on PATH nor in /usr/local/cuda/bin"
known=$("$nvcc" --list-gpu-code)
architectures=
for capability in ${ISOCLOTH_CUDA_ARCHITECTURES:-80 90 100}; do
  if grep -qx "sm_$capability" <<<"$known"; then
    architectures+=${architectures:+;}$capability-real
  else
    release=$("$nvcc" --version | grep -o 'release [0-9.]*')
    echo "build_gpu_programs: left out sm_$capability, which nvcc of $release lacks"
  fi
done
[[ -n $architectures ]] ||
  fail "ISOCLOTH_CUDA_ARCHITECTURES: found \"$ISOCLOTH_CUDA_ARCHITECTURES\", expected some of ${known//$'\n'/ }"

mkdir -p "$build"
generator=()
! command -v ninja >/dev/null || generator=(-G Ninja)
cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DISOCLOTH_CUDA=ON -DISOCLOTH_UNITY=ON \
  -DISOCLOTH_SIMD="${ISOCLOTH_SIMD:-baseline;avx2;avx512}" -DCMAKE_CUDA_COMPILER="$nvcc" \
  -DCMAKE_CUDA_ARCHITECTURES="$architectures" "$@" >"$build/configure.log" 2>&1 ||
  { tail -n 30 "$build/configure.log" >&2; fail "CMake failed"; }
targets=(isocloth_cuda isocloth_command isocloth_bench test_host test_kernels test_linear)
# Where cuSPARSE and cuSOLVER are; asked of CMake, whatever generator it has.
! grep -q isocloth_device_libraries <(cmake --build "$build" --target help) || targets+=(isocloth_device_libraries)
# The log grows from call to call: an object that is up to date says nothing any more.
cmake --build "$build" -j "${ISOCLOTH_JOBS:-$(nproc)}" --target "${targets[@]}" >>"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log" >&2; fail "the build failed"; }
{ grep -E "Compiling entry function|bytes spill stores|Used [0-9]+ registers" "$build/build.log" || true; } | c++filt \
  >"$build/kernels.log"
