// Where a kernel places pinned nodes, beside the motions themselves.
#include "engine/model/scene.hpp"
#include "host/memory/buffer.hpp"
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class PlacedPins : public testing::Test {};
TYPED_TEST_SUITE(PlacedPins, Precisions);

/// A pin of two nodes with each kind of motion, and one with a ramp.
std::vector<Pin> pins() {
  const KeyframeMotion turned{.times = {0, 0.1, 0.35},
                              .translations = {{}, {0.01, 0, 0}, {0, 0.02, 0.01}},
                              .rotations = {{}, {0, 0, 0.2}, {0.1, 0, 0.3}},
                              .center = {0.15, 0.3, 0}};
  const RecordedMotion recorded{.file = "",
                                .times = {0.1, 0.2, 0.3},
                                .positions = {{}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {}}};
  std::vector<Pin> all;
  for (const Motion& motion : {Motion(FixedMotion{}), Motion(OscillationMotion{{0, 0.1, 0}, 0.6, 0.05, 0.3}),
                               Motion(turned), Motion(recorded)})
    all.push_back({.name = "", .nodes = {1, 2}, .motion = motion});
  all.push_back({.name = "", .nodes = {1, 2}, .motion = turned, .ramp = 0.2});
  return all;
}

TYPED_TEST(PlacedPins, AreWhereTheirMotionsHaveThem) {
  constexpr int steps = 9;
  constexpr double h = 0.05;
  std::vector<Garment> garments;
  for (const Pin& pin : pins()) {
    Garment& garment = garments.emplace_back();
    garment.initial_positions = {{}, {0.3, 0.3, 0}, {0, 0.3, 0.1}};
    garment.pins = {pin};
    garment.time_offset = -0.02;
  }
  garments.push_back(garments.back());  // a spare lane of tiles of two
  const Device device({.backend = "cpu"});
  std::vector<PinView> views;
  std::vector<PinnedNode> nodes;
  std::vector<StepClock> clocks;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    views.push_back(view_of(garments[g], garments[g].pins[0]));
    for (Index i = 0; i < 2; ++i)
      nodes.push_back({.start = garments[g].initial_positions[static_cast<std::size_t>(i) + 1],
                       .pin = static_cast<Index>(g),
                       .i = i});
    clocks.push_back({.offset = garments[g].time_offset, .steps = static_cast<double>(g % 3)});
  }
  for (const int width : {1, 2}) {
    std::vector<TypeParam> targets(steps * garments.size() * 6);
    const PlacePins<TypeParam> args{.width = width,
                                    .tile_count = static_cast<Index>(garments.size()) / width,
                                    .step_count = steps,
                                    .node_count = 2,
                                    .step = h,
                                    .pins = views,
                                    .nodes = nodes,
                                    .clocks = clocks,
                                    .targets = targets};
    step_kernels<TypeParam>(device.backend()).place_pins(device.queue(), args);
    const auto lanes = static_cast<std::size_t>(width);
    for (std::size_t n = 0; n < steps; ++n)
      for (std::size_t g = 0; g < garments.size(); ++g)
        for (std::size_t i = 0; i < 2; ++i) {
          const double t = clocks[g].offset + (clocks[g].steps + static_cast<double>(n + 1)) * h;
          const Vec3d x = pin_position(garments[g], garments[g].pins[0], i, t);
          const double expected[] = {x.x, x.y, x.z};
          for (std::size_t k = 0; k < 3; ++k)
            EXPECT_EQ(targets[((n * garments.size() + g / lanes * lanes) * 2 + i * lanes) * 3 + k * lanes +
                              g % lanes],
                      static_cast<TypeParam>(expected[k]))
                << "pin " << g << ", step " << n << ", width " << width;
        }
  }
}

}  // namespace
}  // namespace isocloth
