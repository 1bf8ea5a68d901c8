#!/usr/bin/env bash
# Builds isocloth and runs the first scene: packages, release build, ten seconds of a shaken sheet, its report.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash cmake/setup.sh

# The plugin serves nothing without both a compiler for it and a device.
targets=(isocloth_command)
cuda=OFF
if { command -v nvcc || [[ -x /usr/local/cuda/bin/nvcc ]]; } >/dev/null && [[ -e /dev/nvidia0 ]]; then
  targets+=(isocloth_cuda)
  cuda=ON
fi

# What this machine needs and no more. The published models beside the core can be had later: -DISOCLOTH_MODELS=ON.
cmake --preset release -DISOCLOTH_CUDA=$cuda -DISOCLOTH_SIMD=native -DISOCLOTH_BUILD_TESTS=OFF \
  -DISOCLOTH_BUILD_BENCH=OFF -DISOCLOTH_MODELS=OFF -DCMAKE_MESSAGE_LOG_LEVEL=NOTICE
cmake --build --preset release --target "${targets[@]}"
mkdir -p results
build/release/bin/isocloth run bench/scenes/shake_fast_9x9.json -o results/shake_fast_9x9 --overwrite
echo "Open $PWD/results/shake_fast_9x9/report.html in a browser; figures are in summary.json and metrics.csv beside it."
