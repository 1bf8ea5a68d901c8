# The CUDA compiler and what every CUDA target gets. The Toolkit need not be on PATH.
if(ISOCLOTH_SANITIZE)
  message(FATAL_ERROR "ISOCLOTH_CUDA and ISOCLOTH_SANITIZE exclude each other: nvcc knows no -fsanitize; drop one of them")
endif()
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(ISOCLOTH_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT ISOCLOTH_NVCC)
    message(FATAL_ERROR "ISOCLOTH_CUDA is ON but nvcc was not found: install the CUDA Toolkit, set CUDACXX, or turn ISOCLOTH_CUDA off")
  endif()
  set(CMAKE_CUDA_COMPILER ${ISOCLOTH_NVCC} CACHE FILEPATH "CUDA compiler")
endif()
# Machine code for every current family and PTX of the newest, which the driver compiles for what comes later.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90 CACHE STRING "CUDA architectures")
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  message(FATAL_ERROR "isocloth needs nvcc 12.0 or newer for C++20, found ${CMAKE_CUDA_COMPILER_VERSION}: update the CUDA Toolkit")
endif()
include(CheckSourceCompiles)
check_source_compiles(CUDA "#include <cub/version.cuh>\nint main() { return 0; }" ISOCLOTH_HAS_CUB)
if(NOT ISOCLOTH_HAS_CUB)
  message(FATAL_ERROR "ISOCLOTH_CUDA is ON but cub/version.cuh was not found beside ${CMAKE_CUDA_COMPILER}: install CCCL of the same CUDA Toolkit (Debian: cuda-cccl-MAJOR-MINOR, PyPI: nvidia-cuda-cccl)")
endif()
# CMake 3.25 does not know that nvcc compiles C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# Products are fused where multiply_add() says so and nowhere else, on every backend: hence the same bits.
# ptxas reports registers and spills of each kernel; cmake/test.sh counts the spills.
add_library(isocloth_cuda_flags INTERFACE)
target_compile_options(isocloth_cuda_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings --fmad=false -Xptxas=-v -Xcompiler=-Wall,-Wextra,-Werror>)
target_include_directories(isocloth_cuda_flags INTERFACE ${PROJECT_SOURCE_DIR})
