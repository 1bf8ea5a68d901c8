#!/usr/bin/env bash
# gather_dependencies.sh FOLDER: copies what isocloth is built from, apart from compilers and CMake, out of this Debian
# machine's packages into FOLDER, for a machine that can fetch nothing. There:
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=FOLDER -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
# nvcc, cuSPARSE, cuSOLVER and CUB are that machine's own, of one CUDA Toolkit (host/docs/DEVICE_LIBRARIES.md).
# (HDF5's own libraries lie in FOLDER too and are found through the program's DT_RPATH alone.)
set -euo pipefail
if (($# != 1)); then
  echo "usage: $0 FOLDER" >&2
  exit 2
fi
folder=$1
packages=(libeigen3-dev libcli11-dev nlohmann-json3-dev libgtest-dev libmetis-dev libnlopt-dev libhdf5-dev libjs-three)
for package in "${packages[@]}"; do
  if [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) != "install ok installed" ]]; then
    echo "gather_dependencies: package $package is not installed; run: bash cmake/setup.sh" >&2
    exit 1
  fi
done
if [[ -e $folder && ! -e $folder/gathered_packages.txt && -n $(ls -A "$folder") ]]; then
  echo "gather_dependencies: $folder is not empty and no folder of this script; give another" >&2
  exit 1
fi
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

# Shared libraries under the names by which programs ask for them, and whatever they ask for themselves, but for what
# comes with every compiler.
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
ldd "$metis" "$nlopt" "$hdf5" | awk '$2 == "=>" { print $1, $3 }' | sort -u | while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libresolv.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libgcc_s.so.* | libstdc++.so.*) ;;
    *) cp -L "$path" "$libraries/$name" ;;
  esac
done

# find_file looks into include/ of a prefix.
cp /usr/share/javascript/three/three.min.js "$folder/include"
cp /usr/share/javascript/three/examples/js/controls/OrbitControls.js "$folder/include"

glibc=$(find "$libraries" -name '*.so*' -type f -exec objdump -T {} + | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)
echo "gather_dependencies: $folder holds $(du -sm "$folder" | cut -f 1) MiB for $multiarch; it needs ${glibc/_/ } or newer"
