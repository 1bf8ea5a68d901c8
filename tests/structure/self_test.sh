#!/usr/bin/env bash
# Shows that check.sh finds what it looks for: a small clean tree passes, and each planted violation fails by name.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

clean_tree() {
  rm -rf "${tree:?}"/* "$tree"/.ci
  mkdir -p "$tree"/{engine/core,engine/model,kernels/launch,kernels/batch,host/memory,host/reference,host/run,bench,tests/host,cmake,build,.ci}
  touch "$tree"/{CMakeLists.txt,README.md,LICENSE,CMakePresets.json,cmake/options.cmake,.ci/run}
  printf '#include <vector>\n' >"$tree/engine/core/a.hpp"
  printf '#include "engine/rows/a.hpp"\n' >"$tree/engine/model/m.hpp"
  printf '#include "kernels/core/views.hpp"\n' >"$tree/kernels/batch/t.hpp"
  printf '#include "host/state/s.hpp"\n#include "kernels/kernel_table.hpp"\n' >"$tree/host/memory/d.hpp"
  printf '#include "host/simulation/simulation.hpp"\n' >"$tree/host/run/r.cpp"
  printf '#include <thread>\n#include "engine/core/a.hpp"\n' >"$tree/kernels/launch/pool.cpp"
  printf '#include <Eigen/Core>\n#include "engine/core/a.hpp"\n' >"$tree/host/reference/r.cpp"
  printf '#include "kernels/launch/b.hpp"\n' >"$tree/host/s.cpp"
  printf '#include <gtest/gtest.h>\n#include "host/s.hpp"\n' >"$tree/tests/host/s.cpp"
  printf 'see https://example.org/work/x and host/work/x\n' >>"$tree/README.md"
}

fail() {
  echo "$1"
  failures=$((failures + 1))
}

# plant RULE FILE TEXT: TEXT as the content of FILE must make RULE fail and name FILE.
plant() {
  clean_tree
  mkdir -p "$(dirname "$tree/$2")"
  printf '%b\n' "$3" >"$tree/$2"
  local output
  if output=$(bash "$here/check.sh" "$1" "$tree"); then
    fail "$1 does not see $3 in $2"
  elif [[ $output != "${4:-$2}"* ]]; then
    fail "$1 does not name $2 but says: $output"
  fi
}

for rule in includes top_level file_length class_files machine_paths; do
  clean_tree
  bash "$here/check.sh" "$rule" "$tree" || fail "$rule finds fault with a clean tree"
done

plant includes engine/core/x.hpp '#include "kernels/launch/b.hpp"'
plant includes engine/core/x.hpp '#include "a.hpp"'
plant includes engine/core/x.hpp '#include "engine/../host/s.hpp"'
plant includes engine/core/x.hpp '#  include <Eigen/Core>'
plant includes engine/core/x.hpp '#include <thread>'
plant includes engine/core/x.hpp '#include "engine/mesh/mesh.hpp"'
plant includes engine/rows/x.hpp '#include "engine/model/recipe.hpp"'
plant includes engine/new/x.hpp '#include "engine/core/a.hpp"'
plant includes engine/model/x.cpp '#include "engine/models/air/panel_grid.hpp"'
plant includes host/run/x.cpp '#include "engine/models/air/panel_grid.hpp"'
plant includes tests/host/x.cpp '#include "engine/models/air/panel_grid.hpp"'
plant includes host/models/air/x.cpp '#include "engine/models/drape/weil.hpp"'
plant includes engine/models/new/x.hpp '#include "engine/core/a.hpp"'
plant includes host/models/air/x.cpp '#include <CLI/CLI.hpp>'
plant includes kernels/core/x.hpp '#include "kernels/launch/launch.hpp"'
plant includes kernels/contact/x.hpp '#include "kernels/samples/contact_state.hpp"'
plant includes kernels/launch/x.cpp '#include "kernels/kernel_table.hpp"'
plant includes kernels/forces/x.cpp '#include "host/s.hpp"'
plant includes kernels/forces/x.cpp '#include <Eigen/Sparse>'
plant includes kernels/forces/x.cpp '#include <cuda_runtime.h>'
plant includes kernels/forces/x.cpp '#include <atomic>'
plant includes host/reference/x.cpp '#include "kernels/launch/b.hpp"'
plant includes host/reference/x.cpp '#include "engine/rows/isometry.hpp"'
plant includes host/reference/x.cpp '#include "host/simulation/simulation.hpp"'
plant includes host/x.cpp '#include "tests/support/meshes.hpp"'
plant includes host/x.cpp '#include "bench/clock.hpp"'
plant includes host/state/x.hpp '#include "host/memory/device.hpp"'
plant includes host/state/x.hpp '#include "kernels/kernel_table.hpp"'
plant includes host/solver/x.hpp '#include "host/simulation/simulation.hpp"'
plant includes host/orchestrator/x.cpp '#include "host/simulation/simulation_members.hpp"'
plant includes host/files/x.cpp '#include "host/simulation/simulation.hpp"'
plant includes host/simulation/x.cpp '#include "host/projection/projection_solver.hpp"'
plant includes host/memory/x.cpp '#include "host/garment/garment_arrays.hpp"'
plant includes host/projection/x.cpp '#include "host/impulse/impulse_group.hpp"'
plant includes host/scene/x.cpp '#include "host/results/run_record.hpp"'
plant includes host/results/x.cpp '#include "kernels/kernel_table.hpp"'
plant includes host/run/x.cpp '#include "host/app/interrupt.hpp"'
plant includes host/sweep/x.cpp '#include "host/fit/run_fit.hpp"'
plant includes host/run/x.cpp '#include <CLI/CLI.hpp>'
plant includes host/run/x.cpp '#include <csignal>'
plant includes bench/x.cpp '#include "tests/support/meshes.hpp"'
plant includes bench/x.cpp '#include <cusolverDn.h>'
plant includes bench/cuda/x.cu '#include <Eigen/Sparse>'
plant includes bench/cuda/x.cu '#include "host/s.hpp"'
plant includes tests/host/x.cpp '#include "bench/clock.hpp"'
plant includes tests/bench/x.cpp '#include <cub/cub.cuh>'
plant top_level src/x.cpp 'int x;' src
plant top_level NOTES.md 'notes'
plant file_length kernels/x.cpp "$(printf '\\n%.0s' {1..701})"
plant machine_paths cmake/x.sh 'cd /ho''me/somebody'
plant machine_paths .ci/run 'A=/ro''ot/x'

clean_tree
printf '\n%.0s' {1..700} >"$tree/kernels/x.cpp"
bash "$here/check.sh" file_length "$tree" || fail "file_length refuses 700 lines"

# plant_class TEXT: TEXT, which defines a member of a class, in three files must make class_files fail and name them.
plant_class() {
  clean_tree
  local file output
  for file in a b c; do printf '%b\n' "$1" >"$tree/host/memory/$file.cpp"; done
  if output=$(bash "$here/check.sh" class_files "$tree"); then
    fail "class_files does not see $1 in three files"
  elif [[ $output != host/memory/a.cpp* || $output != *host/memory/c.cpp* ]]; then
    fail "class_files does not name the files but says: $output"
  fi
}
plant_class 'void Buffer::clear() {}'
plant_class 'Buffer::Buffer(int size) : size_(size) {}'
plant_class 'template <class Real>\nstd::pair<int, Real> Buffer<Real>::sum(int n) const {}'
plant_class 'template <class Real>\ntypename Buffer<Real>::View& Buffer<Real>::view() {}'
plant_class 'void Buffer::View::clear() {}'

clean_tree
for file in a b c; do printf 'void clear() { Buffer::clear(); }\n' >"$tree/host/memory/$file.cpp"; done
for file in a b; do printf 'void Buffer::clear() {}\n' >>"$tree/host/memory/$file.cpp"; done
bash "$here/check.sh" class_files "$tree" || fail "class_files refuses a class in two files, or what only uses it"

# A list of layers that lets a folder stand on one that comes later is refused.
clean_tree
mkdir "$tree/build/check"
cp "$here/tracked_files.sh" "$tree/build/check"
sed 's|^engine/mesh core$|engine/mesh core model|' "$here/check.sh" >"$tree/build/check/check.sh"
output=$(bash "$tree/build/check/check.sh" includes "$tree" || true)
[[ $output == 'layers: engine/mesh stands on engine/model/'* ]] || fail "includes takes a list of layers with a cycle: $output"
((failures == 0))
