#if defined(__AVX512F__)
#define ISOCLOTH_SIMD_BYTES 64
#include "kernels/linear/dense_body.hpp"
#endif
