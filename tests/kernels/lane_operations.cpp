// Built once per instruction set, like the kernels.
#include "tests/kernels/lane_operations.hpp"

#include "kernels/launch/lanes.hpp"
#include "kernels/launch/quads.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr const char* names[] = {"a + b",
                                 "a - b",
                                 "-a",
                                 "a * b",
                                 "a / b",
                                 "a += b",
                                 "a > b",
                                 "a < b",
                                 "a <= b",
                                 "a >= b",
                                 "a == b",
                                 "a != b",
                                 "a > b & b > c",
                                 "a > b | b > c",
                                 "!(a > b)",
                                 "mask of a bool",
                                 "select",
                                 "multiply_add",
                                 "square_root",
                                 "magnitude",
                                 "larger",
                                 "value in all lanes",
                                 "multiply_add of vectors, x",
                                 "multiply_add of vectors, y",
                                 "multiply_add of vectors, z",
                                 "dot_add",
                                 "select of vectors, x",
                                 "select of vectors, z"};

template <class S>
S result(int operation, S a, S b, S c) {
  using Scalar = typename Lanes<S>::Scalar;
  using Mask = typename Lanes<S>::Mask;
  const S one{Scalar(1)}, zero{};
  const Vec3<S> u{a, b, c}, v{c, a, b};
  S sum = a;
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return -a;
    case 3:
      return a * b;
    case 4:
      return a / b;
    case 5:
      return sum += b, sum;
    case 6:
      return select(a > b, one, zero);
    case 7:
      return select(a < b, one, zero);
    case 8:
      return select(a <= b, one, zero);
    case 9:
      return select(a >= b, one, zero);
    case 10:
      return select(a == b, one, zero);
    case 11:
      return select(a != b, one, zero);
    case 12:
      return select((a > b) & (b > c), one, zero);
    case 13:
      return select((a > b) | (b > c), one, zero);
    case 14:
      return select(!(a > b), one, zero);
    case 15:
      return select(Mask(true), a, b) + select(Mask(false), a, b);
    case 16:
      return select(a > c, a, b);
    case 17:
      return multiply_add(a, b, c);
    case 18:
      return square_root(a);
    case 19:
      return magnitude(a);
    case 20:
      return larger(a, b);
    case 21:
      return a * S(Scalar(-0.0)) + b * S(Scalar(0.1));
    case 22:
      return multiply_add(a, u, v).x;
    case 23:
      return multiply_add(a, u, v).y;
    case 24:
      return multiply_add(a, u, v).z;
    case 25:
      return dot_add(u, v, a);
    case 26:
      return select(a > b, u, v).x;
    default:
      return select(a > b, u, v).z;
  }
}

template <class Real>
Pack<Real> packed(const Real* values) {
  Pack<Real> pack;
  for (int lane = 0; lane < Pack<Real>::width; ++lane) pack.v[lane] = values[lane];
  return pack;
}

const char* name(int operation) { return names[operation]; }

template <class Real>
void run(int operation, const Real* a, const Real* b, const Real* c, Real* of_vector, Real* of_scalars) {
  const Pack<Real> all = result<Pack<Real>>(operation, packed(a), packed(b), packed(c));
  for (int lane = 0; lane < Pack<Real>::width; ++lane) {
    of_vector[lane] = all.v[lane];
    of_scalars[lane] = result<Real>(operation, a[lane], b[lane], c[lane]);
  }
}

template <class Real>
bool any_greater(const Real* a, const Real* b, bool* lanes) {
  const PackMask<Real> mask = packed(a) > packed(b);
  for (int lane = 0; lane < Pack<Real>::width; ++lane) lanes[lane] = mask[lane];
  return any(mask);
}

template <class Real>
void quad_differences(const Vec4<Real>* values, const Vec4<Real>* more, const Index* pairs, Real* of_vector,
                      Real* of_scalars) {
  constexpr int width = Pack<Real>::width;
  using Vector = Quads<Pack<Real>>;
  using Scalar = Quads<Real>;
  const auto all = Vector::difference(values, more, pairs).lanes();
  for (int lane = 0; lane < width; ++lane) {
    const auto own = Scalar::difference(values, more, pairs + 2 * lane).lanes();
    of_vector[lane] = all.x.v[lane], of_scalars[lane] = own.x;
    of_vector[width + lane] = all.y.v[lane], of_scalars[width + lane] = own.y;
    of_vector[2 * width + lane] = all.z.v[lane], of_scalars[2 * width + lane] = own.z;
  }
}

template <class Real>
void quad_round_trip(const Real* xyz, Real* back) {
  constexpr int width = Pack<Real>::width;
  const Vec3<Pack<Real>> all =
      Quads<Pack<Real>>::of({packed(xyz), packed(xyz + width), packed(xyz + 2 * width)}).lanes();
  for (int lane = 0; lane < width; ++lane)
    back[lane] = all.x.v[lane], back[width + lane] = all.y.v[lane], back[2 * width + lane] = all.z.v[lane];
}

template <class Real>
void quad_exchange(const Real* xyz, const Index* pairs, const Real* to_a, const Real* to_b,
                   Vec4<Real>* by_vector, Vec4<Real>* by_scalars) {
  constexpr int width = Pack<Real>::width;
  Quads<Pack<Real>>::of({packed(xyz), packed(xyz + width), packed(xyz + 2 * width)})
      .exchange(by_vector, pairs, packed(to_a), packed(to_b));
  for (int lane = 0; lane < width; ++lane)
    Quads<Real>::of({xyz[lane], xyz[width + lane], xyz[2 * width + lane]})
        .exchange(by_scalars, pairs + 2 * lane, to_a[lane], to_b[lane]);
}

}  // namespace

template <class Real>
LaneOperations<Real> lane_operations() {
  return {.width = Pack<Real>::width,
          .operation_count = sizeof(names) / sizeof(names[0]),
          .name = name,
          .run = run<Real>,
          .any_greater = any_greater<Real>,
          .quad_differences = quad_differences<Real>,
          .quad_round_trip = quad_round_trip<Real>,
          .quad_exchange = quad_exchange<Real>};
}
template LaneOperations<float> lane_operations<float>();
template LaneOperations<double> lane_operations<double>();

}  // namespace isocloth::ISOCLOTH_BACKEND
