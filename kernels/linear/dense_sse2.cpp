#include "kernels/linear/dense_body.hpp"
