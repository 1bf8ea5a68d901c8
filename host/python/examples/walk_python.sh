#!/usr/bin/env bash
# A Python user's walk, in a clean environment: install the wheel, step 1,024 towels, look at them as numpy arrays, one
# step of an environment of gymnasium. Prints the time of each stage.
#     bash cmake/wheel.sh && bash host/python/examples/walk_python.sh [build/wheels/isocloth-*.whl]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
wheel=${1:-$(find build/wheels -maxdepth 1 -name 'isocloth-*.whl' | head -n 1)}
[[ -f $wheel ]] || { echo "walk_python: found no wheel, expected one in build/wheels: bash cmake/wheel.sh" >&2 && exit 2; }
wheel=$(realpath "$wheel")
scenes=$PWD/bench/scenes
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
last=$EPOCHREALTIME
stage() {
  local now=$EPOCHREALTIME
  awk -v a="$last" -v b="$now" -v what="$1" 'BEGIN { printf "%7.1f s  %s\n", b - a, what }'
  last=$now
}
python3 -m venv venv
stage 'made an environment'
venv/bin/python -m pip install -q --disable-pip-version-check "$wheel[gym]"
stage 'installed the wheel, numpy and gymnasium'
venv/bin/python - "$scenes/towels_on_table.json" <<'PYTHON'
import sys
import time

last = time.perf_counter()


def stage(what):
    global last
    now = time.perf_counter()
    print(f"{now - last:7.1f} s  {what}", flush=True)
    last = now


import gymnasium  # noqa: E402
import isocloth  # noqa: E402
import isocloth.gym  # noqa: E402

stage("imported")
towels = isocloth.Simulation(sys.argv[1])
stage(f"made {towels.garment_count} towels")
steps = 20
towels.advance(steps)
stage(f"stepped them {steps} times")
positions = towels.positions(slice(None))
height = positions[..., 2].mean(axis=1)
stage(f"positions {positions.shape}; mean height of a towel {1000 * height.min():.1f} to {1000 * height.max():.1f} mm")
envs = gymnasium.make_vec("isocloth/FoldTowel-v0", num_envs=64, vectorization_mode="vector_entry_point")
observations, _ = envs.reset(seed=1)
stage(f"64 towels to fold: observations {observations['points'].shape}")
_, rewards, *_ = envs.step(envs.action_space.sample())
stage(f"a step of all of them: rewards {rewards.min():.4f} to {rewards.max():.4f}")
PYTHON
last=$EPOCHREALTIME
