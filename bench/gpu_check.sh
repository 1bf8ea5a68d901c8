#!/usr/bin/env bash
# gpu_check.sh DEPENDENCIES [OUT.json]: on a machine with an NVIDIA GPU and nvcc, where DEPENDENCIES is a folder of
# gather_dependencies.sh (or any prefix that holds the same): builds everything, runs all tests with the GPU required,
# the small ones again under compute-sanitizer, the benchmarks on the device, and the kernels beside NVIDIA's
# libraries; writes commit, machine, results and figures into OUT.json (default results/gpu_check.json of the
# repository). Fails when a test or a check does.
# ISOCLOTH_GPU_STAGES="build tests checks bench libraries" chooses; what earlier calls found since the last build is
# kept in the build folder, and fails this call, too, where it failed.
# ISOCLOTH_GPU_BUILD is that folder, default build/gpu.
set -euo pipefail
if (($# < 1 || $# > 2)) || [[ ! -d $1 ]]; then
  echo "usage: $0 DEPENDENCIES [OUT.json]; DEPENDENCIES is a folder of bench/gather_dependencies.sh" >&2
  exit 2
fi
dependencies=$(cd -- "$1" >/dev/null && pwd)
out=${2:-}
[[ -z $out || $out == /* ]] || out=$PWD/$out
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${out:-results/gpu_check.json}
build=${ISOCLOTH_GPU_BUILD:-build/gpu}
read -ra stages <<<"${ISOCLOTH_GPU_STAGES:-build tests checks bench libraries}"
parts=$build/gpu_check
mkdir -p "$parts" "$(dirname "$out")"

fail() {
  echo "gpu_check: $*" >&2
  exit 1
}
command -v nvidia-smi >/dev/null || fail "found no nvidia-smi, expected an NVIDIA driver"
gpu=$(nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader -i 0) ||
  fail "nvidia-smi: $gpu"
IFS=, read -r gpu_name gpu_memory driver capability <<<"${gpu//, /,}"
nvcc=$(command -v nvcc || true)
[[ -n $nvcc || ! -x /usr/local/cuda/bin/nvcc ]] || nvcc=/usr/local/cuda/bin/nvcc
[[ -n $nvcc ]] || fail "found no nvcc, neither on PATH nor in /usr/local/cuda/bin"

# JSON of a line of text, and of lines as an array.
quoted() { printf '"%s"' "$(sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/ /g' <<<"$1")"; }
array() {
  local separator='' line
  printf '['
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    printf '%s%s' "$separator" "$(quoted "$line")"
    separator=', '
  done
  printf ']'
}
first_line() { "$@" 2>/dev/null | head -n 1 || true; }

stage_build() {
  local generator=() log=$parts/kernels.log
  ! command -v ninja >/dev/null || generator=(-G Ninja)
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DISOCLOTH_CUDA=ON \
    -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES="${capability/./}-real" \
    -DCMAKE_PREFIX_PATH="$dependencies" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags >"$parts/configure.log" 2>&1 ||
    { tail -n 30 "$parts/configure.log" >&2; fail "CMake failed"; }
  # The compiler reports on what it compiles; an object that is up to date would be missing from the report.
  rm -rf "$build/kernels/cuda/CMakeFiles/isocloth_cuda.dir"
  cmake --build "$build" -j "${ISOCLOTH_JOBS:-$(nproc)}" >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "the build failed"; }
  awk -F "'" '
    /Compiling entry function/ { name = $2; spill = 0 }
    /bytes spill stores/ { spill = ($0 !~ / 0 bytes spill stores, 0 bytes spill loads/) }
    /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); print substr($0, RSTART + 5, RLENGTH - 5), spill, name }' "$log" |
    c++filt | sed -E 's/\(anonymous namespace\):://g; s/isocloth::(cuda::)?(detail::)?//g; s/ void / /; s/\(.*//' |
    sort -k 3 -u >"$parts/registers.txt"
  {
    printf '{"kernels": %d, "spilling": ' "$(wc -l <"$parts/registers.txt")"
    awk '$2 == 1' "$parts/registers.txt" | cut -d ' ' -f 3- | array
    printf ', "registers": {'
    sed -E 's/^([0-9]+) [01] (.*)$/"\2": \1/' "$parts/registers.txt" | paste -s -d , | tr -d '\n'
    printf '}}\n'
  } >"$parts/build.json"
}

stage_tests() {
  local log=$parts/ctest.log status=0
  ISOCLOTH_REQUIRE_GPU=1 ctest --test-dir "$build" -LE '^structure$' -j 4 --timeout 600 --no-tests=error \
    --output-on-failure >"$log" 2>&1 || status=$?
  local failed skipped
  failed=$(sed -n '/tests FAILED:/,/^$/s/^[[:space:]]*[0-9]* - \(.*\) (.*/\1/p' "$log")
  skipped=$(sed -n '/did not run:/,/^$/s/^[[:space:]]*[0-9]* - \(.*\) (.*/\1/p' "$log")
  {
    printf '{"run": %s, "seconds": %s, "failed": ' "$(sed -nE 's/.*tests failed out of ([0-9]+).*/\1/p' "$log" | grep . || echo 0)" \
      "$(sed -nE 's/^Total Test time \(real\) = *([0-9.]+) sec.*/\1/p' "$log" | grep . || echo null)"
    array <<<"$failed"
    printf ', "skipped": '
    array <<<"$skipped"
    printf '}\n'
  } >"$parts/tests.json"
  ((status == 0)) || {
    { grep -A 40 -E '\[  FAILED  \]|tests FAILED:' "$log" || cat "$log"; } | tail -n 80 >&2
    bad+=(tests)
  }
}

# program filter: kernels of every kind on small meshes, work arrays in shared memory and in the workspace.
small_tests=(
  "test_host GpuBatch.ResetOf*:GpuBatch.AClothThatBreaks*:GpuBatch.BlockSizeDoesNotShow:GpuSteps.IsBitReproducible:GpuPairSearch.*:GpuSelections.*"
  "test_linear DeviceCholesky.SolvesEveryPattern:DeviceCholesky.NamesTheBlockRow*"
  "test_kernels StepKernels*:SetupKernels*:MeasureKernels*:Reduce*"
)
stage_checks() {
  local sanitizer
  sanitizer=$(command -v compute-sanitizer || true)
  [[ -n $sanitizer || ! -x $(dirname "$nvcc")/compute-sanitizer ]] || sanitizer=$(dirname "$nvcc")/compute-sanitizer
  [[ -n $sanitizer ]] || fail "found no compute-sanitizer"
  local tool test program filter log status summary failed=0 separator=''
  {
    printf '['
    for tool in memcheck racecheck; do
      for test in "${small_tests[@]}"; do
        read -r program filter <<<"$test"
        log=$parts/$tool.$program.log status=0
        # An allocation per array: what lies behind one is nobody's.
        ISOCLOTH_ARENA=off ISOCLOTH_REQUIRE_GPU=1 timeout 240 "$sanitizer" --tool "$tool" --error-exitcode 9 "$build/bin/$program" \
          --gtest_filter="$filter" >"$log" 2>&1 || status=$?
        # A filter that selects nothing is no success.
        grep -qE '\[  PASSED  \] [1-9]' "$log" || ((status != 0)) || status=1
        # Another exit code than the sanitizer's own says that the test failed, or that time ran out (124).
        summary=$(grep -E 'SUMMARY' "$log" | tail -n 1 | sed 's/^=* *//' || true)
        printf '%s{"tool": "%s", "program": "%s", "tests": %s, "passed": %s, "exit_status": %d, "summary": %s}' \
          "$separator" "$tool" "$program" "$(quoted "$filter")" "$( ((status == 0)) && echo true || echo false)" \
          "$status" "$(quoted "$summary")"
        separator=', '
        if ((status != 0)); then
          tail -n 30 "$log" >&2
          failed=1
        fi
      done
    done
    printf ']\n'
  } >"$parts/checks.part"
  mv "$parts/checks.part" "$parts/checks.json"
  ((failed == 0)) || bad+=(checks)
}

bench=$build/bin/isocloth-bench
stage_bench() {
  "$bench" --json "$parts/batch.json" batch --backend cuda --mesh quads_9 \
    --counts 1 4 16 64 256 1024 4096 16384 >"$parts/batch.md"
  "$bench" --json "$parts/mesh.json" mesh --backend cuda --mesh 17 33 65 129 >"$parts/mesh.md"
  "$bench" --json "$parts/frames.json" frames --backend cuda --sheets 100:1 20:4096 >"$parts/frames.md"
  # Cloth that meets cloth: whole runs on the device beside those on the CPU.
  local scene backend result seconds separator=''
  {
    printf '['
    for scene in sheet_on_sheet twist folded_towel; do
      for backend in cpu cuda; do
        result=$parts/$scene.$backend
        rm -rf "$result"
        timeout 60 "$build/bin/isocloth" run "bench/scenes/$scene.json" --backend "$backend" -o "$result" \
          >"$result.log" 2>&1 || { tail -n 5 "$result.log" >&2; bad+=(bench); }
        seconds=$(sed -nE 's/^ *"wall_seconds": ([0-9.e+-]+),?$/\1/p' "$result/summary.json" | head -n 1 || true)
        printf '%s{"scene": "%s", "backend": "%s", "wall_seconds": %s}' "$separator" "$scene" "$backend" "${seconds:-null}"
        separator=', '
      done
    done
    printf ']\n'
  } >"$parts/contact.json"
}

# The tables that decide which library serves (host/docs/DEVICE_LIBRARIES.md).
stage_libraries() {
  if [[ ! -e $build/lib/libisocloth_device_libraries.so ]]; then
    echo "gpu_check: SKIPPED the libraries: the build found no cuSPARSE and cuSOLVER of CUDA 12.4 or newer"
    return
  fi
  "$bench" --json "$parts/libraries.json" libraries >"$parts/libraries.md"
  sed -n '/^### What serves best/,$p' "$parts/libraries.md"
}

# A stage has failed until it is over: NAME.failed outlives a call that was ended.
bad=()
for stage in "${stages[@]}"; do
  case $stage in
    build) rm -rf "${parts:?}"/* ;;
    tests | checks) rm -f "$parts/$stage.json" ;;
    libraries) rm -f "$parts/libraries.json" ;;
    bench) rm -f "$parts/batch.json" "$parts/mesh.json" "$parts/frames.json" "$parts/contact.json" ;;
    *) fail "no stage '$stage'; there are: build tests checks bench libraries" ;;
  esac
  touch "$parts/$stage.failed"
  start=$SECONDS
  "stage_$stage"
  [[ " ${bad[*]} " == *" $stage "* ]] || rm "$parts/$stage.failed"
  echo "gpu_check: $stage took $((SECONDS - start)) s"
done

record=$("$bench" machine) || fail "$bench does not run"
{
  # Commit, load and machine as the benchmarks tell them.
  printf '{%s,\n"gpu": {"device": %s, "memory": %s, "compute_capability": %s, "driver": %s, "nvcc": %s, "cmake": %s},\n' \
    "$(sed '1s/^{//; $s/}$//' <<<"$record")" "$(quoted "$gpu_name")" "$(quoted "$gpu_memory")" "$(quoted "$capability")" \
    "$(quoted "$driver")" "$(quoted "$("$nvcc" --version | grep -o 'release [0-9.]*')")" \
    "$(quoted "$(first_line cmake --version)")"
  printf '"date": %s' "$(quoted "$(date -u +%Y-%m-%d)")"
  for part in build tests checks batch mesh frames contact libraries; do
    [[ ! -s $parts/$part.json ]] || printf ',\n"%s": %s' "$part" "$(cat "$parts/$part.json")"
  done
  printf '\n}\n'
} >"$out"
echo "gpu_check: wrote $out"
failed=$(cd "$parts" && find . -name '*.failed' | sed 's|^\./||; s|\.failed$||' | sort | tr '\n' ' ')
[[ -z $failed ]] || fail "failed, in this call or one since the last build: $failed"
