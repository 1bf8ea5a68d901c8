#!/usr/bin/env bash
# wide_symbols_self_test.sh COMPILER NM: shows that wide_symbols.sh finds what it looks for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compiler=$1 nm=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect STATUS NAME TEXT [SYMBOL]: the script ends with STATUS for NAME.o, the object of TEXT, and names SYMBOL.
expect() {
  printf '%s\n' "$3" >"$folder/x.cpp"
  "$compiler" -O0 -c "$folder/x.cpp" -o "$folder/$2.o"
  local output status=0
  output=$(bash "$here/wide_symbols.sh" "$nm" "$folder/$2.o") || status=$?
  if [[ $status != "$1" || $output != *"${4:-}"* ]]; then
    echo "$2.o of { $3 }: ended with $status, expected $1 naming ${4:-nothing}: $output"
    failures=$((failures + 1))
  fi
}

expect 0 avx2 'namespace cpu_avx2 { inline int f() { return 1; } int g() { return f(); } }'
expect 0 avx512 'namespace { int f() { return 1; } } namespace cpu_avx512 { int g() { return f(); } }'
expect 0 dense_avx2 'namespace simd_avx2 { extern const int table; const int table = 3; }'
expect 1 avx2 'inline int f() { return 1; } namespace cpu_avx2 { int g() { return f(); } }' _Z1fv
expect 1 avx2 'namespace cpu { int f() { return 1; } }' _ZN3cpu1fEv
expect 1 avx2 'namespace cpu_avx512 { int f() { return 1; } }' cpu_avx512
expect 1 avx512 'template <class T> T twice(T x) { return x + x; } template float twice(float);' twice
expect 1 avx512 'int count = 1;' count
expect 2 baseline 'namespace cpu_avx2 { int f() { return 1; } }' 'neither'
if bash "$here/wide_symbols.sh" "$nm" "$folder/avx2_missing.o" >"$folder/out" || ! grep -q 'not built' "$folder/out"; then
  echo "a missing object passes"
  failures=$((failures + 1))
fi
if bash "$here/wide_symbols.sh" "$nm" >"$folder/out"; then
  echo "no object at all passes"
  failures=$((failures + 1))
fi
((failures == 0))
