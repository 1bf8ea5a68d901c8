#!/usr/bin/env bash
# test.sh: layout, rules of the tree and tests of minutes. test.sh all: every test, every instruction set,
# sanitizers, packages, Python, CUDA. Stage by stage; the first that fails ends it. Logs are in build/test_logs.
# ISOCLOTH_TEST_STAGES="release asan" chooses stages, ISOCLOTH_JOBS the number of compilers at once. Where
# ISOCLOTH_TEST_MINUTES is set, what comes last is not begun after so many minutes: parts of asan, tsan, headers. It is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/structure/tracked_files.sh
level=${1:-short}
case $level in
  short)
    default_stages='format structure release'
    simd='baseline;native'
    ;;
  all)
    default_stages='format lint structure release core package python docs cuda asan tsan headers'
    simd='baseline;avx2;avx512'
    ;;
  *)
    echo "test: found '$level', expected nothing or all" >&2
    exit 2
    ;;
esac
read -ra stages <<<"${ISOCLOTH_TEST_STAGES:-$default_stages}"
jobs=${ISOCLOTH_JOBS:-$(nproc)}
logs=$PWD/build/test_logs
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs CTEST_OUTPUT_ON_FAILURE=1 CLICOLOR_FORCE=0
# One architecture: the stage asks whether the kernels compile and link; the default list is for a release.
cuda_architecture=${ISOCLOTH_CUDA_ARCHITECTURE:-90}

nvcc=$(command -v nvcc || true)
[[ -n $nvcc || ! -x /usr/local/cuda/bin/nvcc ]] || nvcc=/usr/local/cuda/bin/nvcc

run_ctest() { ctest --no-tests=error --timeout 900 -j 2 "$@"; }
seconds_left() { echo $((60 * ${ISOCLOTH_TEST_MINUTES:-100000} - SECONDS)); }

stage_format() {
  local version
  version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
  if [[ $version != 14 ]]; then
    echo "SKIPPED: the layout is that of clang-format 14, found $version"
    return
  fi
  tracked_files . | grep -E '\.(hpp|cpp|cu)$' | tr '\n' '\0' | xargs -0 clang-format --dry-run -Werror
}

# The linter of the Python package, in an environment of its own: seconds, before anything is compiled.
stage_lint() {
  python3 -m venv build/lint
  build/lint/bin/python -m pip install -q --disable-pip-version-check ruff
  build/lint/bin/ruff check --config host/python/pyproject.toml host/blender host/python tests/python
}

# Nobody edits files between the stages of a whole test: those of the host are compiled several at once. What run.sh
# leaves out is there again.
configure_release() {
  local unity=OFF
  [[ $level != all ]] || unity=ON
  cmake --preset release -DISOCLOTH_SIMD="$simd" -DISOCLOTH_UNITY=$unity -DBUILD_SHARED_LIBS=OFF \
    -DISOCLOTH_MODELS=ON -DISOCLOTH_BUILD_TESTS=ON -DISOCLOTH_BUILD_BENCH=ON "$@"
}

stage_structure() {
  configure_release
  run_ctest --test-dir build/release -L '^structure$'
}

stage_release() {
  configure_release
  cmake --build --preset release
  local left_out='^$'
  [[ $level == all ]] || left_out=$(grep -v '^#' tests/long_tests.txt | paste -sd '|')
  run_ctest --test-dir build/release -LE '^structure$' -E "$left_out"
}

# Without the models beside the core: the command, what it refuses then, and the tests of the engine.
stage_core() {
  cmake --preset release -B build/core -DISOCLOTH_SIMD=baseline -DISOCLOTH_UNITY=ON -DISOCLOTH_MODELS=OFF
  cmake --build build/core --target isocloth_command test_engine test_command
  build/core/bin/test_engine --gtest_brief=1
  build/core/bin/test_command --gtest_brief=1 --gtest_filter='MissingModels*'
}

stage_headers() {
  configure_release
  cmake --build --preset release --target isocloth_headers_alone
}

# A program's tests are dealt out to parts (tests/CMakeLists.txt), which run part by part while there is time.
stage_asan() {
  local part parts=16 build=0
  cmake --preset asan
  timeout "$(seconds_left)" cmake --build --preset asan || build=$?
  if ((build == 124)); then
    echo "NOTE: LEFT OUT: none of the tests, the time was over before all was compiled"
    return
  fi
  ((build == 0)) || return "$build"
  # Where an assertion fails, a stack: of the caller of a view, too.
  export ASAN_OPTIONS=handle_abort=1 UBSAN_OPTIONS=print_stacktrace=1
  for ((part = 1; part <= parts && $(seconds_left) > 0; ++part)); do
    run_ctest --timeout 1500 --test-dir build/asan -R "\\.shard_$part\$"
  done
  echo "NOTE: $((part - 1)) of $parts parts of the tests ran"
  if ((part <= parts)); then
    echo 'NOTE: LEFT OUT: the other parts and fuzz, the time was over'
    return
  fi
  run_ctest --test-dir build/asan -LE '^structure$' -E '\.shard_'
}

# GCC 12's thread sanitizer needs a memory layout that kernels with 32 bits of randomisation do not give.
stage_tsan() {
  local fixed_layout=()
  if setarch -R true 2>/dev/null; then fixed_layout=(setarch -R); fi
  cmake --preset tsan
  "${fixed_layout[@]}" cmake --build --preset tsan --target test_kernels test_linear
  export TSAN_OPTIONS=second_deadlock_stack=1
  "${fixed_layout[@]}" ctest --no-tests=error --timeout 1800 -j 2 --test-dir build/tsan -L '^kernels$'
  # Of the linear solvers those tests that run on several threads.
  GTEST_FILTER='*DeviceCholesky*:*TaskGraph*:*Threads*' \
    "${fixed_layout[@]}" ctest --no-tests=error --timeout 900 -j 2 --test-dir build/tsan -L '^linear$'
}

stage_cuda() {
  if [[ -z $nvcc ]]; then
    echo "SKIPPED: no nvcc"
    return
  fi
  CUDACXX=$nvcc cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES="$cuda_architecture"
  # The compiler reports on what it compiles; an object that is up to date would be missing from the count.
  rm -rf build/cuda/kernels/cuda/CMakeFiles/isocloth_cuda.dir
  if [[ -e /dev/nvidia0 ]]; then
    cmake --build --preset cuda
    report_spills
    ISOCLOTH_REQUIRE_GPU=1 run_ctest --test-dir build/cuda -LE '^structure$'
  else
    local targets=(isocloth_cuda)
    if grep -q isocloth_device_libraries build/cuda/build.ninja; then
      targets+=(isocloth_device_libraries)
    else
      echo "SKIPPED: the comparison with GPU libraries: cuSPARSE and cuSOLVER of CUDA 12.4 or newer not found"
    fi
    cmake --build --preset cuda --target "${targets[@]}"
    report_spills
    echo "NOTE: ${targets[*]} compiled and linked for sm_$cuda_architecture; not run, there is no GPU"
  fi
}

# Counts the kernels whose registers ptxas had to spill to memory, and names the first of them.
report_spills() {
  local kernels spilled
  kernels=$(grep -c 'ptxas info.*Compiling entry function' "$logs/cuda.log" || true)
  spilled=$(awk -F "'" '/Compiling entry function/ { name = $2 }
    /bytes spill stores/ && !/ 0 bytes spill stores, 0 bytes spill loads/ && !seen[name]++ { print name }' \
    "$logs/cuda.log" | c++filt | sed -E 's/\(anonymous namespace\):://g; s/\([A-Za-z_:]+\)([0-9])/\1/g; s/\(.*//; s/^[a-z ]*//')
  echo "SPILLS: $(printf '%s' "$spilled" | grep -c . || true) of $kernels kernels spill registers"
  [[ -z $spilled ]] || head -n 20 <<<"$spilled" | sed 's/^/SPILLS: /'
}

# Installs both kinds of library, then builds and runs a program that knows the installed tree only. They are made of
# the same objects. Of a build without tests, which users make, those are compiled that differ: kernels, without blocks.
stage_package() {
  configure_release
  cmake --build --preset release --target isocloth isocloth_command
  install_and_use build/release build/package/static
  cmake --preset release -B build/package/users -DISOCLOTH_BUILD_TESTS=OFF -DISOCLOTH_BUILD_BENCH=OFF -DISOCLOTH_SIMD=baseline
  cmake --build build/package/users --target isocloth_kernels
  configure_release -DBUILD_SHARED_LIBS=ON
  cmake --build --preset release --target isocloth isocloth_command
  install_and_use build/release build/package/shared
  configure_release
}
install_and_use() {
  local build=$1 prefix=$PWD/$2/prefix consumer=$2/consumer
  rm -rf "$prefix"
  cmake --install "$build" --prefix "$prefix" >/dev/null
  "$prefix/bin/isocloth" --version
  cmake -S tests/package -B "$consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build "$consumer" --clean-first
  "$consumer/consumer"
}

# The Python package around the static library of the release, its tests and the examples of its docstrings.
stage_python() {
  local root=$PWD/build/python
  configure_release
  cmake --build --preset release --target isocloth isocloth_command
  rm -rf "$root"
  cmake --install build/release --prefix "$root/prefix" >/dev/null
  python3 -m venv "$root/venv"
  local python=$root/venv/bin/python
  "$python" -m pip install -q --disable-pip-version-check scikit-build-core nanobind pytest gymnasium \
    h5py pygltflib usd-core ufbx viser vtk imageio-ffmpeg distributed mujoco pyarrow ezdxf scipy svgelements trimesh pyyaml
  "$python" -m pip install -q --no-build-isolation host/python -C "cmake.define.isocloth_ROOT=$root/prefix"
  (cd "$root" && "$python" -m pytest -q -p no:cacheprovider ../../tests/python &&
    "$python" -m pytest -q -p no:cacheprovider --doctest-modules --pyargs isocloth)
}

# The pages, from scratch, with the tutorials that they run; in the environment of the stage python if that ran before.
stage_docs() {
  local python=''
  [[ " ${stages[*]} " != *' python '* ]] || python=$PWD/build/python/venv/bin/python
  ISOCLOTH_PYTHON=$python bash cmake/docs.sh --check
}

# What a reader wants of a stage that passed: ctest's closing lines and what was skipped.
closing_lines() {
  grep -E '^(SKIPPED|NOTE|SPILLS):|^[0-9]+ passed' "$1" || true
  sed -n '/% tests passed/,$p' "$1" | grep -v '^$' | head -n 60 || true
}

run_stage() {
  local name=$1 log=$logs/$1.log start=$SECONDS status
  if ! declare -F "stage_$name" >/dev/null; then
    echo "test: no stage '$name'; there are: format lint structure release headers package python docs asan tsan cuda" >&2
    exit 2
  fi
  set +e
  (set -e; "stage_$name") >"$log" 2>&1
  status=$?
  set -e
  if ((status != 0)); then
    grep -vE '^ *Start +[0-9]+:| Passed +[0-9.]+ sec|^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 100
    printf 'stage %-10s FAILED after %d s; its whole log is %s\n' "$name" $((SECONDS - start)) "$log"
    exit 1
  fi
  closing_lines "$log"
  printf 'stage %-10s passed in %d s\n' "$name" $((SECONDS - start))
}

bash cmake/setup.sh tests
mkdir -p "$logs"
left_out=()
for stage in "${stages[@]}"; do
  if [[ $stage == asan || $stage == tsan || $stage == headers ]] && (($(seconds_left) <= 0)); then
    left_out+=("$stage")
    printf 'stage %-10s LEFT OUT: %d minutes are over; ISOCLOTH_TEST_STAGES=%s runs it\n' "$stage" $((SECONDS / 60)) "$stage"
    continue
  fi
  run_stage "$stage"
done
echo "all stages passed in $SECONDS s: ${stages[*]}${left_out[*]:+; but not run: ${left_out[*]}}"
