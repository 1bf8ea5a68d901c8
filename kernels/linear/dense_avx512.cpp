#if defined(__AVX512F__)
#define ISOCLOTH_SIMD simd_avx512
#define ISOCLOTH_SIMD_NAME "avx512"
#define ISOCLOTH_SIMD_BYTES 64
#include "kernels/linear/dense_body.hpp"
#endif
