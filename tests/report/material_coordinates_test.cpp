// Checks on the page lie where the threads run.
#include "host/report/material_coordinates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace isocloth {
namespace {

/// Quads of a strip of `columns` x 3 cells rolled up to an open cylinder about z, as wide as it is long.
struct Roll {
  static constexpr Index columns = 24, rows = 3;
  double radius = 0.1, angle = 1.7 * M_PI, height = 0.2;
  ReportGarment garment;
  std::vector<double> rest;

  Roll() {
    for (Index row = 0; row <= rows; ++row)
      for (Index column = 0; column <= columns; ++column) {
        const double at = angle * column / columns;
        rest.insert(rest.end(), {radius * std::cos(at), radius * std::sin(at), height * row / rows});
      }
    garment.node_count = static_cast<Index>(rest.size() / 3);
    garment.face_begin = {0};
    for (Index row = 0; row < rows; ++row)
      for (Index column = 0; column < columns; ++column) {
        const Index a = row * (columns + 1) + column, d = a + columns + 1;
        if ((row + column) % 2 == 0) {
          add({a, a + 1, d + 1, d});
        } else {
          add({a, a + 1, d + 1});
          add({a, d + 1, d});
        }
      }
  }
  void add(const std::vector<Index>& face) {
    garment.face_nodes.insert(garment.face_nodes.end(), face.begin(), face.end());
    garment.face_begin.push_back(static_cast<Index>(garment.face_nodes.size()));
  }
};

TEST(MaterialCoordinates, unfold_a_roll_in_one_piece) {
  const Roll roll;
  const std::vector<Vec2d> uvs = material_coordinates(roll.garment, roll.rest.data());
  ASSERT_EQ(uvs.size(), roll.garment.face_nodes.size());
  // Distances along the flat strip of chords, whatever way it lies in the plane.
  const double chord = 2 * roll.radius * std::sin(roll.angle / Roll::columns / 2),
               rise = roll.height / Roll::rows;
  const auto flat = [&](std::size_t corner) {
    const Index node = roll.garment.face_nodes[corner];
    return Vec2d{chord * (node % (Roll::columns + 1)), rise * (node / (Roll::columns + 1))};
  };
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t a = random() % uvs.size(), b = random() % uvs.size();
    const Vec2d found = uvs[a] - uvs[b], expected = flat(a) - flat(b);
    ASSERT_NEAR(std::hypot(found.x, found.y), std::hypot(expected.x, expected.y), 1e-12) << a << " and " << b;
  }
}

TEST(MaterialCoordinates, keep_the_pattern_in_metres) {
  Roll roll;
  for (const Index node : roll.garment.face_nodes)
    roll.garment.corner_uvs.push_back(
        {roll.radius * roll.angle * (node % (Roll::columns + 1)) / Roll::columns,
         0.21 * (node / (Roll::columns + 1)) / Roll::rows});
  const std::vector<Vec2d> kept = material_coordinates(roll.garment, roll.rest.data());
  EXPECT_TRUE(kept == roll.garment.corner_uvs)
      << "threads a little shorter than the rest shape are a pattern";

  for (Vec2d& uv : roll.garment.corner_uvs) uv = 7.0 * uv;
  const std::vector<Vec2d> scaled = material_coordinates(roll.garment, roll.rest.data());
  for (std::size_t c = 0; c < scaled.size(); ++c) {
    EXPECT_NEAR(scaled[c].x, kept[c].x, 0.03 * roll.radius * roll.angle);
    EXPECT_NEAR(scaled[c].y, kept[c].y, 0.03 * roll.height);
  }

  for (Vec2d& uv : roll.garment.corner_uvs) uv = {1, 1};
  const std::vector<Vec2d> without = material_coordinates(roll.garment, roll.rest.data());
  EXPECT_FALSE(without[0] == without[1]) << "coordinates without area are none";
}

}  // namespace
}  // namespace isocloth
