// Prandtl's elements of rows against the reference, and the tangents that steps have of them.
#include "kernels/tensors/row_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "host/reference/row_memory.hpp"

namespace isocloth {
namespace {

/// A fabric all of whose laws remember.
Fabric fabric_with_memory(double flow_time) {
  Fabric fabric;
  fabric.bending_stiffness = 1e-5;
  fabric.poisson_ratio = 0.3;
  fabric.weft_stretch_stiffness = 7000;
  fabric.memory = {.bending_friction = 2e-4,
                   .bending_yield = 100,
                   .stretch_friction = 20,
                   .stretch_yield = 0.01,
                   .shear_friction = 0.4,
                   .shear_friction_growth = 3,
                   .shear_yield = 0.05,
                   .hardening = 0.2,
                   .flow_time = flow_time};
  return fabric;
}

template <class Real>
void expect_as_the_reference(double rounding) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  for (const double flow_time : {0.0, 0.03}) {
    const Fabric fabric = fabric_with_memory(flow_time);
    const reference::RowMemory expected(fabric);
    const std::vector<double> numbers = memory_laws(fabric);
    const std::vector<Real> laws(numbers.begin(), numbers.end());
    ASSERT_EQ(laws.size(), static_cast<std::size_t>(RowLaw::count * memory_numbers));
    for (int i = 0; i < 500; ++i)
      for (const Index law : {RowLaw::warp, RowLaw::shear, RowLaw::weft, RowLaw::bend}) {
        const double unit = law == RowLaw::bend ? 300 : 0.1, h = 0.01;
        const Real x = static_cast<Real>(unit * any(random));
        const std::array<Real, 2> plastic{static_cast<Real>(unit * any(random)),
                                          static_cast<Real>(unit * any(random))};
        const RowMemory<Real> memory{{laws.data(), laws.size()}, {plastic.data(), 2}};
        double stress = expected.elastic_share(law) * double(x), slope = expected.elastic_share(law);
        for (std::size_t e = 0; e < 2; ++e) {
          const reference::Slider& slider = expected.sliders(law)[e];
          const auto [q, by_x] = slider.strain(double(x), double(plastic[e]), h);
          stress += slider.stiffness * q;
          slope += slider.stiffness * by_x;
          const auto found =
              cpu::prandtl_element(laws.data() + memory_numbers * static_cast<std::size_t>(law) + 1 + 4 * e,
                                   x, plastic[e], Real(h));
          EXPECT_NEAR(double(found.plastic), double(x) - q, rounding * 3 * unit);
        }
        // Where multipliers stand for that stress the tangent is the derivative.
        const cpu::Response<Real> found = cpu::with_memory(memory, std::size_t{0}, law, x, Real(h),
                                                           {x, Real(1)}, static_cast<Real>(stress));
        EXPECT_NEAR(double(found.stress), stress, rounding * 30 * unit);
        EXPECT_NEAR(double(found.slope), std::max(slope, 0.01), 1e-3);
      }
  }
}

TEST(RowMemory, SlidesAsTheReferenceDoes) {
  expect_as_the_reference<double>(1e-14);
  expect_as_the_reference<float>(3e-6);
}

// From sliding one way the tangent of positions alone would leap far beyond sliding the other way; with
// multipliers that know better, Newton's method of a weak spring beside strong friction ends.
TEST(RowMemory, IterationsOfPositionsAndMultipliersEnd) {
  const std::array<double, memory_numbers> law{1, 50, 0.01, 0, 0, 0, 0, 0, 0};
  std::vector<double> laws(RowLaw::count * memory_numbers);
  std::copy(law.begin(), law.end(), laws.begin());
  const std::array<double, 2> plastic{};
  const RowMemory<double> memory{{laws.data(), laws.size()}, {plastic.data(), 2}};
  for (const double start : {-3.0, -0.2, 0.3, 5.0})
    for (const double load : {0.0, 0.3, -0.49, 0.6, -4.0}) {
      double x = start, lambda = 0;
      int n = 0;
      for (; n < 60; ++n) {
        const auto found = cpu::with_memory(memory, std::size_t{0}, RowLaw::warp, x, 0.01, {x, 1.0}, lambda);
        if (std::fabs(found.stress - load) < 1e-12 && std::fabs(lambda - load) < 1e-12) break;
        const double move = (load - found.stress) / found.slope;
        lambda = found.stress + found.slope * move;
        x += move;
      }
      EXPECT_LT(n, 25) << start << ", " << load;
    }
}

}  // namespace
}  // namespace isocloth
