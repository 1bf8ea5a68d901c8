#!/usr/bin/env bash
# wide_symbols.sh NM OBJECT...: objects that are built for wider vectors than every machine has may define no symbol
# that an object built for any machine could define, too: the linker keeps one of them, and older machines crash in
# it. Every global or weak symbol must carry a namespace of its instruction set.
set -euo pipefail
nm=$1
shift
(($# > 0)) || { echo "no objects to check" && exit 2; }
violations=0
for object in "$@"; do
  [[ -f $object ]] || { echo "$object: not built; build the target isocloth_kernels" && exit 2; }
  case $object in
    *avx512*) own='(cpu|simd)_avx512' ;;
    *avx2*) own='(cpu|simd)_avx2' ;;
    *) echo "$object: found neither avx2 nor avx512 in its path" && exit 2 ;;
  esac
  symbols=$("$nm" --defined-only --extern-only "$object")
  while read -r _ kind symbol; do
    [[ -z $symbol || $symbol =~ $own ]] && continue
    echo "$object: defines $symbol ($kind) for all machines; mark the function ISOCLOTH_HD or move it into ISOCLOTH_BACKEND"
    violations=$((violations + 1))
  done <<<"$symbols"
done
((violations == 0))
