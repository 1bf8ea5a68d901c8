# cpack -G DEB in a build folder: what cmake --install installs, as one Debian package; see package.sh.
set(CPACK_PACKAGE_NAME isocloth)
set(CPACK_PACKAGE_VENDOR "The isocloth developers")
set(CPACK_PACKAGE_CONTACT "The isocloth developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION "The command isocloth, example scenes, and the library with its headers and CMake package.")
# What the command is linked to, in the versions of the machine that builds the package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A static library leaves its own libraries to the programs that link it.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, libhdf5-dev, libmetis-dev, libnlopt-dev")
include(CPack)
