// What differs between the two compilers that read the kernels: nothing but these names.
#pragma once

#if defined(__CUDACC__)
#define ISOCLOTH_HD __host__ __device__ __forceinline__
#define ISOCLOTH_DEVICE __device__
#define ISOCLOTH_BACKEND cuda
#else
#define ISOCLOTH_HD inline
#define ISOCLOTH_DEVICE
#define ISOCLOTH_BACKEND cpu
#endif
