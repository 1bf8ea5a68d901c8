# Debian packages; on a machine without them point CMAKE_PREFIX_PATH to a folder that holds them.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
# METIS brings no CMake package of its own.
find_library(ISOCLOTH_METIS metis)
find_path(ISOCLOTH_METIS_INCLUDE metis.h)
if(NOT ISOCLOTH_METIS OR NOT ISOCLOTH_METIS_INCLUDE)
  message(FATAL_ERROR "METIS not found: install the Debian package libmetis-dev, or set ISOCLOTH_METIS to its library "
    "and ISOCLOTH_METIS_INCLUDE to the folder of metis.h")
endif()
# Searches without derivatives (host/fit/search.hpp): its library and header are all that is asked for.
find_library(ISOCLOTH_NLOPT nlopt)
find_path(ISOCLOTH_NLOPT_INCLUDE nlopt.h)
if(NOT ISOCLOTH_NLOPT OR NOT ISOCLOTH_NLOPT_INCLUDE)
  message(FATAL_ERROR "NLopt not found: install the Debian package libnlopt-dev, or set ISOCLOTH_NLOPT to its library "
    "and ISOCLOTH_NLOPT_INCLUDE to the folder of nlopt.h")
endif()
if(ISOCLOTH_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(ISOCLOTH_CUDA)
  include(cuda)
endif()
# three.js r111, the last that Debian ships as one plain script, goes into the report page.
find_file(ISOCLOTH_THREE_JS three.min.js PATHS /usr/share/javascript/three /usr/share/javascript/three/build)
find_file(ISOCLOTH_ORBIT_CONTROLS_JS OrbitControls.js PATHS /usr/share/javascript/three/examples/js/controls)
if(NOT ISOCLOTH_THREE_JS OR NOT ISOCLOTH_ORBIT_CONTROLS_JS)
  message(FATAL_ERROR "three.min.js or OrbitControls.js not found: install the Debian package libjs-three, "
    "or set ISOCLOTH_THREE_JS and ISOCLOTH_ORBIT_CONTROLS_JS to these two files of three.js r111")
endif()
