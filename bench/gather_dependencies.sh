#!/usr/bin/env bash
# gather_dependencies.sh FOLDER [BUILD]: what a machine that can fetch nothing needs for gpu_check.sh, into FOLDER.
#
# Without BUILD: what isocloth is built from, apart from compilers and CMake, out of this Debian machine's packages.
# There:
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=FOLDER -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
# nvcc, cuSPARSE, cuSOLVER and CUB are that machine's own, of one CUDA Toolkit (host/docs/DEVICE_LIBRARIES.md).
# (HDF5's own libraries lie in FOLDER too and are found through the program's DT_RPATH alone.)
#
# With BUILD, a folder that build_gpu_programs.sh has built in (or any build with bin/ and lib/): its programs and
# plugins, stripped, and the libraries that they ask for, as FOLDER/programs.tar.xz: nothing is compiled there.
set -euo pipefail
if (($# < 1 || $# > 2)); then
  echo "usage: $0 FOLDER [BUILD]" >&2
  exit 2
fi
folder=$1
fail() {
  echo "gather_dependencies: $*" >&2
  exit 1
}
[[ ! -e $folder || -e $folder/gathered_packages.txt || -z $(ls -A "$folder") ]] ||
  fail "$folder is not empty and no folder of this script; give another"
limit_mib=60 # of a tree that travels

# Copies the libraries that files ask for into a folder, under the names by which they do, but for what comes with every
# compiler.
copy_libraries() {
  local to=$1 name path
  shift
  ldd "$@" | awk '$2 == "=>" { print $1, $3 }' | sort -u | while read -r name path; do
    case $name in
      libc.so.* | libm.so.* | libresolv.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libgcc_s.so.* | libstdc++.so.*) ;;
      libcu*.so.* | libnv*.so.*) ;; # of the CUDA Toolkit
      *) [[ -e $to/$name ]] || cp -L "$path" "$to/$name" ;;
    esac
  done
}
needed_glibc() {
  find "$1" -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' |
    sort -Vu | tail -n 1 | tr _ ' '
}

pack_programs() {
  local build=$1 program plugin
  local programs=(isocloth isocloth-bench test_host test_kernels test_linear)
  for program in "${programs[@]}"; do
    [[ -x $build/bin/$program ]] || fail "found no $build/bin/$program; run: bash bench/build_gpu_programs.sh $build"
  done
  staging=$(mktemp -d)
  trap 'rm -rf "$staging"' EXIT
  mkdir "$staging/bin" "$staging/lib"
  for program in "${programs[@]}"; do strip -o "$staging/bin/$program" "$build/bin/$program"; done
  for plugin in libisocloth_cuda.so libisocloth_device_libraries.so; do
    [[ ! -e $build/lib/$plugin ]] || strip --strip-unneeded -o "$staging/lib/$plugin" "$build/lib/$plugin"
  done
  [[ -e $staging/lib/libisocloth_cuda.so ]] ||
    echo "gather_dependencies: NOTE: $build/lib has no libisocloth_cuda.so; ISOCLOTH_CUDA_PLUGIN has to name one there"
  ! grep -q . "$build/kernels.log" 2>/dev/null || cp "$build/kernels.log" "$staging"
  copy_libraries "$staging/lib" "$staging"/bin/*
  rm -rf "$folder"
  mkdir -p "$folder"
  dpkg-query -W libmetis-dev libnlopt-dev libhdf5-dev >"$folder/gathered_packages.txt"
  # One dictionary for all: the programs have most of their code in common.
  tar -C "$staging" -c . | xz -T1 --lzma2=preset=6,dict=128MiB >"$folder/programs.tar.xz"
  local packed tree
  packed=$(du -sk "$folder" | cut -f 1)
  tree=$(git -C "$(dirname "${BASH_SOURCE[0]}")/.." ls-files -z | (cd "$(dirname "${BASH_SOURCE[0]}")/.." && xargs -0 du -ck) |
    tail -n 1 | cut -f 1)
  echo "gather_dependencies: $folder/programs.tar.xz holds $(du -sm "$staging" | cut -f 1) MiB in $((packed / 1024)) MiB;" \
    "with the tracked tree $(((packed + tree) / 1024)) MiB of $limit_mib; it needs $(needed_glibc "$staging") or newer"
  ((packed + tree <= limit_mib * 1024)) || fail "that is too much; build for fewer ISOCLOTH_CUDA_ARCHITECTURES"
}

if (($# == 2)); then
  pack_programs "$2"
  exit
fi

packages=(libeigen3-dev libcli11-dev nlohmann-json3-dev libgtest-dev libmetis-dev libnlopt-dev libhdf5-dev libjs-three)
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == "install ok installed" ]] ||
    fail "package $package is not installed; run: bash cmake/setup.sh"
done
rm -rf "$folder"
mkdir -p "$folder"
dpkg-query -W "${packages[@]}" >"$folder/gathered_packages.txt"
multiarch=$(c++ -print-multiarch)
libraries=$folder/lib/$multiarch
mkdir -p "$folder/include" "$libraries"

# Packages that can be moved as they are: headers, archives, CMake files.
for package in libeigen3-dev libcli11-dev nlohmann-json3-dev libgtest-dev; do
  dpkg -L "$package" | while read -r file; do
    case $file in
      */doc/* | */doc-base/* | */pkgconfig/* | */unsupported/*) continue ;;
    esac
    if [[ -f $file ]]; then
      mkdir -p "$folder$(dirname "${file#/usr}")"
      cp -L "$file" "$folder${file#/usr}"
    fi
  done
done

cp /usr/include/metis.h /usr/include/nlopt.h "$folder/include"
cp /usr/include/hdf5/serial/*.h "$folder/include"
metis=/usr/lib/$multiarch/libmetis.so
nlopt=/usr/lib/$multiarch/libnlopt.so
hdf5=/usr/lib/$multiarch/hdf5/serial/libhdf5.so
for library in "$metis" "$nlopt" "$hdf5"; do
  name=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
  cp -L "$library" "$libraries/$name"
  ln -s "$name" "$libraries/$(basename "$library")"
done
copy_libraries "$libraries" "$metis" "$nlopt" "$hdf5"

# find_file looks into include/ of a prefix.
cp /usr/share/javascript/three/three.min.js "$folder/include"
cp /usr/share/javascript/three/examples/js/controls/OrbitControls.js "$folder/include"

echo "gather_dependencies: $folder holds $(du -sm "$folder" | cut -f 1) MiB for $multiarch; it needs $(needed_glibc "$folder") or newer"
