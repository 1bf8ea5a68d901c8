#define ISOCLOTH_SIMD simd_sse2
#define ISOCLOTH_SIMD_NAME "sse2"
#define ISOCLOTH_SIMD_BYTES 16
#include "kernels/linear/dense_body.hpp"
