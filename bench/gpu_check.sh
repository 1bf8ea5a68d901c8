#!/usr/bin/env bash
# gpu_check.sh DEPENDENCIES [OUT.json] [OPTION...]: on a machine with an NVIDIA GPU, within nine minutes: throughput of
# batches, large meshes, scenes with contact, the tests that need a GPU, memory and race checks, the slowest kernels under
# ncu. OUT.json (default results/gpu_check.json of the repository) is valid after every result; what was left out is said
# in it. Options are those of gpu_check.py.
#
# DEPENDENCIES is a folder of gather_dependencies.sh. With programs in it nothing is compiled, and one command is all:
#   where the compilers are:  bash bench/build_gpu_programs.sh build/gpu && bash bench/gather_dependencies.sh .deps build/gpu
#   where the GPU is:         bash bench/gpu_check.sh .deps OUT.json
# Else the machine's own nvcc builds first, for its GPU, in ISOCLOTH_GPU_BUILD (default build/gpu), an estimated ten minutes on
# 16 cores that are not counted; a call that was ended goes on in the next. Programs run in the tree that this file is in.
set -euo pipefail
if (($# < 1)) || [[ ! -d $1 ]]; then
  echo "usage: $0 DEPENDENCIES [OUT.json] [OPTION...]; DEPENDENCIES is a folder of bench/gather_dependencies.sh" >&2
  exit 2
fi
dependencies=$(cd -- "$1" >/dev/null && pwd)
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() {
  echo "gpu_check: $*" >&2
  exit 1
}
command -v python3 >/dev/null || fail "found no python3, expected 3.8 or newer"
programs=$dependencies/programs.tar.xz
if [[ ! -e $programs ]]; then
  programs=${ISOCLOTH_GPU_BUILD:-$here/../build/gpu}
  if [[ -z ${ISOCLOTH_CUDA_ARCHITECTURES:-} ]] && command -v nvidia-smi >/dev/null; then
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0) || fail "nvidia-smi: $capability"
    export ISOCLOTH_CUDA_ARCHITECTURES=${capability/./}
  fi
  bash "$here/build_gpu_programs.sh" "$programs" -DCMAKE_PREFIX_PATH="$dependencies" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
fi
exec python3 "$here/gpu_check.py" "$programs" "$@"
