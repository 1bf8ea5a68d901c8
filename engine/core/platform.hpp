// What differs between the compilers and instruction sets that read the kernels: nothing but these names.
#pragma once

#if defined(__CUDACC__)
#define ISOCLOTH_HD __host__ __device__ __forceinline__
#define ISOCLOTH_DEVICE __device__
// Called, not copied: nvcc would unroll the loops around large functions and copy them a hundred times.
#define ISOCLOTH_DEVICE_CALL __device__ __noinline__
// Small, and asked so often that a CPU copies it.
#define ISOCLOTH_DEVICE_LEAF __device__ __noinline__
#define ISOCLOTH_BACKEND cuda
#if defined(__CUDA_ARCH__)
// Of what a view shows, which is never of shared memory or a thread's own: loads that know where are shorter.
#define ISOCLOTH_IN_DEVICE_MEMORY(data) __builtin_assume(__isGlobal(data));
#else
#define ISOCLOTH_IN_DEVICE_MEMORY(data)
#endif
#else
#define ISOCLOTH_IN_DEVICE_MEMORY(data)
// Always inlined: builds for different instruction sets share these functions, and the linker would keep one.
#define ISOCLOTH_HD __attribute__((always_inline)) inline
#define ISOCLOTH_DEVICE
#define ISOCLOTH_DEVICE_CALL
#define ISOCLOTH_DEVICE_LEAF __attribute__((always_inline)) inline
#if !defined(ISOCLOTH_BACKEND)  // cpu_avx2, cpu_avx512: the build of kernels/CMakeLists.txt says so
#define ISOCLOTH_BACKEND cpu
#endif
#endif
