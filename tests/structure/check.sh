#!/usr/bin/env bash
# check.sh RULE ROOT: checks one rule of the tree; prints every violation as FILE:LINE: what, and fails if there is one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/tracked_files.sh"
rule=$1
cd "$2"
files=$(tracked_files .)
[[ -n $files ]] || { echo "$2: holds no files to check" && exit 2; }
violations=0

violation() {
  printf '%s\n' "$1"
  violations=$((violations + 1))
}

# The rooms of host/ whose headers a room may include besides its own and the interface of Simulation, from the ground up.
allow_host_rooms() {
  local room rooms kernels='kernels/|'
  room=$(cut -d/ -f2 <<<"$1")
  case $room in
    memory) rooms='' ;;
    linear) rooms='memory' ;;
    garment) rooms='memory|linear' ;;
    measures) rooms='memory|garment' ;;
    solver) rooms='memory' ;;
    surroundings) rooms='memory|garment|solver' ;;
    bodies) rooms='memory|surroundings' ;;
    cloth) rooms='memory|solver' ;;
    projection) rooms='memory|linear|garment|measures|solver|surroundings|bodies|cloth' ;;
    impulse) rooms='memory|linear|garment|measures|solver|surroundings|cloth' ;;
    orchestrator) rooms='memory|garment|solver|surroundings|cloth|projection|impulse' ;;
    gradients) rooms='memory|projection' ;;
    energy) rooms='garment|solver|reference' ;;
    validation) rooms='memory|solver|impulse|orchestrator|reference' ;;
    air) rooms='' kernels='' ;;
    files) rooms='' kernels='' ;;
    meshes) rooms='files' kernels='' ;;
    drape) rooms='' kernels='' ;;
    minimise) rooms='reference' kernels='' ;;
    scene) rooms='files|meshes|drape' kernels='' ;;
    results) rooms='files|meshes|energy' kernels='' ;;
    report) rooms='files|results' kernels='' ;;
    run) rooms='files|meshes|drape|minimise|scene|energy|results|report' ;;
    sweep) rooms='files|meshes|scene|results|report|run' ;;
    fit) rooms='files|minimise|scene|results|report|run|sweep' ;;
    python) rooms='gradients|energy|files|meshes|scene|results|run|fit|sweep' kernels='kernels/kernel_table\.hpp|' ;;
    app) rooms='memory|files|meshes|scene|results|report|run|sweep|fit|validation' ;;
    *) rooms='none' ;;  # a new room says here what it stands on
  esac
  allowed="(engine/|${kernels}host/((simulation|kept_step)\.hpp|(${rooms:+$rooms|}$room)/))"
}

# Folders whose headers a file may include, and the system headers that it may not, as extended regular expressions.
set_include_rules() {
  local third_party='Eigen/|unsupported/|nlohmann/|CLI/|hdf5|H5|metis|nlopt|gtest/|gmock/|benchmark/'
  local cuda='cuda|cu[a-zA-Z_]+\.h|thrust/|cub/|cooperative_groups'
  local machine='thread|mutex|shared_mutex|barrier|condition_variable|future|atomic|semaphore|latch|stop_token'
  local files='fstream|iostream|filesystem|chrono|cstdio|stdio\.h'
  case $1 in
    # A wish that a signal handler may set is an atomic number.
    engine/core/monitor.hpp) allowed='engine/' forbidden="$third_party|$cuda|(${machine/atomic|/}|$files)\$" ;;
    engine/*) allowed='engine/' forbidden="$third_party|$cuda|($machine|$files)\$" ;;
    kernels/cuda/*) allowed='(engine|kernels)/' forbidden="$third_party" ;;
    kernels/launch/*) allowed='(engine|kernels)/' forbidden="$third_party|($files)\$" ;;
    kernels/*) allowed='(engine|kernels)/' forbidden="$third_party|$cuda|($machine|$files)\$" ;;
    host/reference/*) allowed='(engine/(core|mesh|model)|host/reference)/' forbidden="nlohmann/|CLI/|hdf5|H5|$cuda" ;;
    host/app/*) allow_host_rooms "$1" && forbidden="gtest/|benchmark/|$cuda" ;;
    # The two that people call take their Ctrl-C: the command and the module.
    host/python/*) allow_host_rooms "$1" && forbidden="gtest/|benchmark/|CLI/|iostream|$cuda" ;;
    host/*/*) allow_host_rooms "$1" && forbidden="gtest/|benchmark/|CLI/|csignal|iostream|$cuda" ;;
    host/*) allowed='(engine|kernels|host)/' forbidden="gtest/|benchmark/|$cuda" ;;
    bench/cuda/*) allowed='(engine|kernels|bench)/' forbidden="$third_party" ;;
    bench/*) allowed='(engine|kernels|host|bench)/' forbidden="gtest/|$cuda" ;;
    tests/bench/*) allowed='(engine|kernels|host|bench|tests)/' forbidden="$cuda" ;;
    tests/*) allowed='(engine|kernels|host|tests)/' forbidden="$cuda" ;;
    *) allowed='(engine|kernels|host|bench|tests)/' forbidden='$^' ;;
  esac
}

check_includes() {
  local file number line header
  while IFS=: read -r file number line; do
    set_include_rules "$file"
    if [[ $line =~ include[[:space:]]*\"([^\"]+)\" ]]; then
      header=${BASH_REMATCH[1]}
      [[ $header =~ ^$allowed && $header != *..* ]] ||
        violation "$file:$number: includes \"$header\"; from here only $allowed, relative to the root"
    elif [[ $line =~ include[[:space:]]*\<([^\>]+)\> ]]; then
      header=${BASH_REMATCH[1]}
      [[ ! $header =~ ^($forbidden) ]] ||
        violation "$file:$number: includes <$header>, which does not belong into this folder"
    fi
  done < <(printf '%s\n' "$files" | grep -E '\.(hpp|cpp|cu|cuh|h)$' | tr '\n' '\0' |
    xargs -0r grep -nHE '^[[:space:]]*#[[:space:]]*include' || true)
}

check_top_level() {
  local entry
  while IFS= read -r entry; do
    case $entry in
      engine | kernels | host | bench | tests | cmake) ;;
      CMakeLists.txt | CMakePresets.json | README.md | LICENSE | CITATION.cff | SECURITY.md | .*) ;;
      *) violation "$entry: not an entry of the top level; move it into engine, kernels, host, bench, tests or cmake" ;;
    esac
  done < <(printf '%s\n' "$files" | cut -d/ -f1 | sort -u)
}

check_file_length() {
  local limit=450 file lines
  while read -r lines file; do
    [[ $file == total ]] || violation "$file:$lines: longer than $limit lines; it holds two ideas, part them"
  done < <(printf '%s\n' "$files" | grep -E '^(engine|kernels|host|bench)/.*\.(hpp|cpp|cu|cuh|h|js|css|html|py|sh|cmake|txt)$' |
    tr '\n' '\0' | xargs -0r wc -l | awk -v limit=$limit '$1 > limit')
}

check_machine_paths() {
  local found
  while IFS= read -r found; do
    violation "$found: a path of one machine; name it relative to the root or take it as an argument"
  done < <(printf '%s\n' "$files" | tr '\n' '\0' | xargs -0r grep -nHIoE '(^|[^A-Za-z0-9_./-])/(work|home|root)/[^ ]*' || true)
}

"check_$rule"
((violations == 0))
