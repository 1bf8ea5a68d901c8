#!/usr/bin/env bash
# package.sh: a Debian package (command, scenes, library, headers, CMake package), a wheel, a source archive of HEAD and
# SHA256SUMS of all three in build/packages. Their version is that of the project in CMakeLists.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$PWD/build/packages
version=$(sed -nE 's/^project\(isocloth VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "package: $tool not found; install the Debian package dpkg-dev" >&2 && exit 1; }
done
[[ -z $(git status --porcelain) ]] || echo "package: the tree has changes; the source archive is that of HEAD" >&2

bash cmake/wheel.sh  # builds the release, too
rm -rf "$packages"
mkdir -p "$packages"
(cd build/release && cpack -G DEB -B "$packages" >"$packages/cpack.log" 2>&1) || { cat "$packages/cpack.log" >&2 && exit 1; }
rm -rf "$packages/_CPack_Packages" "$packages/cpack.log"
cp build/wheels/isocloth-"$version"-*.whl "$packages"
git archive --format=tar.gz --prefix="isocloth-$version/" -o "$packages/isocloth-$version.tar.gz" HEAD
cd "$packages"
sha256sum -- *.deb *.whl *.tar.gz >SHA256SUMS
ls -l
