#if defined(__AVX2__) && defined(__FMA__)
#define ISOCLOTH_SIMD_BYTES 32
#include "kernels/linear/dense_body.hpp"
#endif
