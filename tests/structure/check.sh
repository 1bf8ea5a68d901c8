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

# The folders of engine, kernels and host from the ground up, and what the files of each may include besides their own:
# folders beside it by name, others by path. It can only name folders that come before it, so that no includes form a
# cycle. Kernels and host may include all of the engine, and every folder of the host may include host/state.
# Models beside the core have a folder each in `models`: they stand on the core, on none of each other, and on what they
# share (shared_models); nothing but their lists and their tests includes one, so that each can be taken out.
layers='
engine/core
engine/mesh core
engine/shapes core mesh
engine/geometry core mesh shapes
engine/material core
engine/rows core mesh material
engine/model core mesh shapes geometry material rows
engine/without_models model
engine/models/grids core mesh
engine/models/air core mesh
engine/models/drape core mesh model
engine/models/particles core mesh material engine/models/grids/
engine/models/terzopoulos1987 core mesh material model engine/models/grids/
engine/models/bender_sle model
engine/models/isometric_impulse model
engine/models/provot1995 model
engine/models/sakaguchi1991 model
engine/models/lists model engine/models/
kernels/launch
kernels/core
kernels/contact launch core
kernels/linear launch
kernels/tensors launch core
kernels/forces launch core contact
kernels/grippers contact
kernels/samples launch contact forces grippers
kernels/projection launch core contact linear tensors forces samples
kernels/cloth_contact launch core contact linear
kernels/impulse launch core contact forces grippers
kernels/batch launch core contact linear tensors forces samples projection
kernels/measures launch core tensors
kernels/cuda launch cloth_contact kernels/kernel_table.hpp
kernels/without_models kernels/kernel_table.hpp
kernels/models/bender_sle launch core
kernels/models/lists kernels/kernel_table.hpp kernels/models/
host/state
host/memory kernels/
host/linear kernels/ memory
host/garment kernels/ memory linear
host/measures kernels/ memory garment
host/solver kernels/ memory
host/surroundings kernels/ memory garment solver
host/bodies kernels/ memory surroundings
host/cloth_collision kernels/ memory solver
host/projection kernels/ memory linear garment measures solver surroundings bodies cloth_collision
host/impulse kernels/ memory linear garment measures solver surroundings cloth_collision
host/orchestrator kernels/ memory garment solver surroundings cloth_collision projection impulse
host/simulation kernels/ memory garment solver surroundings bodies orchestrator
host/gradients kernels/ memory cloth_collision projection simulation
host/reference
host/energy kernels/ garment solver reference simulation
host/validation kernels/ memory solver impulse orchestrator reference
host/files
host/meshes files
host/minimise reference
host/scene files meshes
host/results files meshes energy
host/report files results
host/run kernels/ files meshes minimise scene energy results report simulation
host/sweep kernels/ files meshes scene results report run simulation
host/fit kernels/ files minimise scene results report run sweep simulation
host/python kernels/kernel_table.hpp gradients energy files meshes scene results run fit sweep simulation
host/app kernels/ memory files meshes scene results report run sweep fit validation simulation
host/without_models app orchestrator scene simulation
host/models/air memory simulation
host/models/bender_sle kernels/ memory linear impulse orchestrator
host/models/terzopoulos1987 memory linear impulse orchestrator
host/models/shapes files meshes scene results report run simulation
host/models/drape app files results run scene simulation host/models/shapes/
host/models/particles app files reference results run scene simulation host/models/shapes/
host/models/lists app orchestrator scene simulation host/models/
'

shared_models='grids|shapes'

# find_model PATH: sets `model` to the model beside the core that a file belongs to; empty: to none.
find_model() {
  model=
  if [[ $1 =~ ^(engine|kernels|host)/models/([^/]+)/ ]]; then model=${BASH_REMATCH[2]}; fi
}

# What may be included from each of the layers, as an extended regular expression.
declare -A allowed_of
read_layers() {
  local folder names name top
  while read -r folder names; do
    top=${folder%%/*}
    allowed_of[$folder]=$folder/
    [[ $top == engine ]] || allowed_of[$folder]+='|engine/'
    [[ $top != host ]] || allowed_of[$folder]+='|host/state/'
    for name in $names; do
      if [[ $name != */* ]]; then
        name=$top/$name/
        if [[ -z ${allowed_of[${name%/}]:-} ]]; then
          echo "layers: $folder stands on $name, which does not come before it"
          exit 2
        fi
      fi
      allowed_of[$folder]+="|${name//./\\.}"
    done
  done < <(grep . <<<"$layers")
}
read_layers

# Folders whose headers a file may include, and the system headers that it may not, as extended regular expressions.
set_include_rules() {
  local folder model
  local third_party='Eigen/|unsupported/|nlohmann/|CLI/|hdf5|H5|metis|nlopt|gtest/|gmock/|benchmark/'
  local cuda='cuda|cu[a-zA-Z_]+\.h|thrust/|cub/|cooperative_groups'
  local machine='thread|mutex|shared_mutex|barrier|condition_variable|future|atomic|semaphore|latch|stop_token'
  local files='fstream|iostream|filesystem|chrono|cstdio|stdio\.h'
  # A new folder says in `layers` what it stands on.
  folder=${1#*/}
  find_model "$1"
  folder=${1%%/*}/${model:+models/}${model:-${folder%%/*}}
  allowed="(${allowed_of[$folder]:-none})"
  case $1 in
    # A wish that a signal handler may set is an atomic number.
    engine/core/monitor.hpp) forbidden="$third_party|$cuda|(${machine/atomic|/}|$files)\$" ;;
    engine/*) forbidden="$third_party|$cuda|($machine|$files)\$" ;;
    kernels/cuda/*) forbidden="$third_party" ;;
    kernels/launch/*) forbidden="$third_party|($files)\$" ;;
    kernels/*/*) forbidden="$third_party|$cuda|($machine|$files)\$" ;;
    kernels/*) allowed='(engine|kernels)/' forbidden="$third_party|$cuda|($machine|$files)\$" ;;
    host/reference/*)
      allowed='(engine/(core|mesh|shapes|material|model)|host/reference)/' forbidden="nlohmann/|CLI/|hdf5|H5|$cuda"
      ;;
    host/app/* | host/models/*/command/*) forbidden="gtest/|benchmark/|$cuda" ;;
    # The two that people call take their Ctrl-C: the command and the module.
    host/python/*) forbidden="gtest/|benchmark/|CLI/|iostream|$cuda" ;;
    host/*/*) forbidden="gtest/|benchmark/|CLI/|csignal|iostream|$cuda" ;;
    host/*) allowed='(engine|kernels|host)/' forbidden="gtest/|benchmark/|$cuda" ;;
    bench/cuda/*) allowed='(engine|kernels|bench)/' forbidden="$third_party" ;;
    bench/*) allowed='(engine|kernels|host|bench)/' forbidden="gtest/|$cuda" ;;
    # It stands in for CUDA.
    tests/device/*) allowed='(engine|kernels|tests/device)/' forbidden='Eigen/|nlohmann/' ;;
    tests/bench/*) allowed='(engine|kernels|host|bench|tests)/' forbidden="$cuda" ;;
    tests/*) allowed='(engine|kernels|host|tests)/' forbidden="$cuda" ;;
    *) allowed='(engine|kernels|host|bench|tests)/' forbidden='$^' ;;
  esac
}

check_includes() {
  local file number line header model
  while IFS=: read -r file number line; do
    set_include_rules "$file"
    if [[ $line =~ include[[:space:]]*\"([^\"]+)\" ]]; then
      header=${BASH_REMATCH[1]}
      [[ $header =~ ^$allowed && $header != *..* ]] ||
        violation "$file:$number: includes \"$header\"; from here only $allowed, relative to the root"
      find_model "$header"
      [[ -z $model || $file =~ ^(engine|kernels|host)/models/(lists|$model)/ || $file == tests/*/models/* ||
        ($model =~ ^($shared_models)$ && $file == */models/*) ]] ||
        violation "$file:$number: includes \"$header\" of the model $model, which is to be taken out without this file"
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
  local limit=700 file lines
  while read -r lines file; do
    [[ $file == total ]] || violation "$file:$lines: longer than $limit lines; it holds two ideas, part them"
  done < <(printf '%s\n' "$files" | grep -E '^(engine|kernels|host|bench)/.*\.(hpp|cpp|cu|cuh|h|js|css|html|py|sh|cmake|txt)$' |
    tr '\n' '\0' | xargs -0r wc -l | awk -v limit=$limit '$1 > limit')
}

# Classes whose members may lie in more files than two. Simulation, the face of the library, has one for each subject that
# people ask of it.
spread_classes='
Simulation
Simulation::Members
'

# What more files define of a class than two is more than one thing: parts that can be named are classes of their own.
check_class_files() {
  local limit=2 class file others
  while read -r class file others; do
    grep -qxF "$class" <<<"$spread_classes" ||
      violation "$file: defines members of $class, as do $others; a class has $limit files at most, part it"
  done < <(printf '%s\n' "$files" | grep -E '^host/.*\.cpp$' | sort | tr '\n' '\0' | xargs -0r awk -v limit=$limit '
    /^[A-Za-z].*::.*\(/ && !/^(template|using|return|struct|class|namespace) / {
      name = $0
      while (gsub(/<[^<>]*>/, "", name)) {}
      sub(/\(.*/, "", name)
      sub(/.*[ &*]/, "", name)
      if (name !~ /^([A-Z][A-Za-z0-9]*::)+~?[A-Za-z_][A-Za-z0-9_]*$/) next
      sub(/::[^:]*$/, "", name)
      if ((name, FILENAME) in seen) next
      seen[name, FILENAME] = 1
      where[name] = where[name] " " FILENAME
      ++count[name]
    }
    END { for (name in count) if (count[name] > limit) print name where[name] }' | sort)
}

check_machine_paths() {
  local found
  while IFS= read -r found; do
    violation "$found: a path of one machine; name it relative to the root or take it as an argument"
  done < <(printf '%s\n' "$files" | tr '\n' '\0' | xargs -0r grep -nHIoE '(^|[^A-Za-z0-9_./-])/(work|home|root)/[^ ]*' || true)
}

"check_$rule"
((violations == 0))
