#!/usr/bin/env bash
# docs.sh: builds the documentation into build/docs: open build/docs/index.html in a browser, no server needed.
# docs.sh --check: the same from scratch; any warning (a link, an anchor, a picture that is not there) or a tutorial that
# fails is an error.
# ISOCLOTH_PYTHON names an interpreter that has isocloth installed; without it an environment of its own is made in
# build/docs_work, around the engine in ISOCLOTH_PREFIX or, if that is not set, the release build of this tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  '' | --check) ;;
  *)
    echo "docs: found '$1', expected nothing or --check" >&2
    exit 2
    ;;
esac
work=$PWD/build/docs_work
mkdir -p "$work"
python=${ISOCLOTH_PYTHON:-}
if [[ -z $python ]]; then
  bash cmake/setup.sh tests
  prefix=${ISOCLOTH_PREFIX:-}
  if [[ -z $prefix ]]; then
    prefix=$work/prefix
    cmake --preset release -DCMAKE_MESSAGE_LOG_LEVEL=NOTICE >/dev/null
    cmake --build --preset release --target isocloth isocloth_command
    cmake --install build/release --prefix "$prefix" >/dev/null
  fi
  python=$work/venv/bin/python
  [[ -x $python ]] || python3 -m venv "$work/venv"
  "$python" -m pip install -q --disable-pip-version-check scikit-build-core nanobind gymnasium mujoco
  "$python" -m pip install -q --no-build-isolation host/python -C "cmake.define.isocloth_ROOT=$prefix"
fi
"$python" -m pip install -q --disable-pip-version-check 'sphinx>=8' 'myst-parser>=4' furo 'sphinx-gallery>=0.19' matplotlib
"$python" -B host/docs/build_site.py "$work" build/docs "$@"
