#include "bench/disc_rig.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>
#include <utility>

#include "bench/runner.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth::bench {
namespace {

constexpr double seconds = 2;
constexpr int points = 20, steps_per_point = 8;

/// u and w of one radius, an end of an element.
using Ends = Eigen::Vector4d;

/// Energy over 2 pi of an element from radius r with its derivatives, where its ends are at (u, w) each.
struct RingElement {
  Ends gradient;
  Eigen::Matrix4d hessian;
  RingElement(double stiffness, double r, double dr, const Ends& x) {
    const double middle = r + dr / 2, weight = stiffness * middle * dr;
    const Ends along{-1 / dr, 0, 1 / dr, 0}, down{0, -1 / dr, 0, 1 / dr},
        around{0.5 / middle, 0, 0.5 / middle, 0};
    const double stretch = 1 + along.dot(x), slope = down.dot(x), hoop = 1 + around.dot(x);
    const double radial = (stretch * stretch + slope * slope - 1) / 2, tangential = (hoop * hoop - 1) / 2;
    const Ends of_radial = stretch * along + slope * down, of_tangential = hoop * around;
    gradient = weight * (radial * of_radial + tangential * of_tangential);
    hessian = weight * (of_radial * of_radial.transpose() + of_tangential * of_tangential.transpose() +
                        radial * (along * along.transpose() + down * down.transpose()) +
                        tangential * (around * around.transpose()));
  }
};

}  // namespace

DiscTest press_disc(const Fabric& fabric, int circles) {
  Scene scene;
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.step = seconds / (points * steps_per_point);
  scene.duration = seconds;
  scene.projection.tolerance = 1e-6;
  Garment cloth;
  cloth.name = "cloth";
  const Index around = 6 * circles;
  cloth.mesh = ring(circles, around, disc_radius, disc_frame_radius, FaceKind::quads);
  cloth.fabric = fabric;
  cloth.fabric.mass_damping = 0.5;
  Pin frame{"frame", {}, FixedMotion{}};
  for (Index k = 0; k < around; ++k) frame.nodes.push_back((circles - 1) * around + k);
  cloth.pins = {frame};
  Gripper disc;
  disc.name = "disc";
  disc.region = SphereShape{.radius = 1.001 * disc_radius};
  disc.motion = KeyframeMotion{
      .times = {0, seconds}, .translations = {{}, {0, 0, -disc_depth}}, .rotations = {}, .center = {}};
  disc.holds = {{0, 2 * seconds}};
  cloth.grippers = {disc};
  scene.garments.push_back(std::move(cloth));
  Simulation simulation(std::move(scene), one_thread());
  DiscTest test{.nodes = circles * around, .curve = {}};
  test.iterations = run_until(simulation, seconds, [&](const Simulation& s, const StepReport&) {
                      if (s.step_index() % steps_per_point == 0)
                        test.curve.push_back({disc_depth * s.time() / seconds, -s.holds(0).force.z});
                    }).iterations_mean;
  say(text("disc, ", test.nodes, " nodes: ", test.curve.back()[1], " N"));
  return test;
}

std::vector<double> disc_forces(double stiffness, const std::vector<double>& depths, int count) {
  const double dr = (disc_frame_radius - disc_radius) / count;
  const Eigen::Index size = 2 * (count - 1);  // of the radii between disc and frame
  Eigen::VectorXd x = Eigen::VectorXd::Zero(2 * (count + 1));
  std::vector<double> forces;
  for (const double depth : depths) {
    // From a cone, where Newton's method begins well.
    for (int i = 0; i <= count; ++i) x[2 * i + 1] = -depth * (1 - static_cast<double>(i) / count);
    double force = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(x.size());
      Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(x.size(), x.size());
      for (int i = 0; i < count; ++i) {
        const RingElement element(stiffness, disc_radius + i * dr, dr, x.segment<4>(2 * i));
        gradient.segment<4>(2 * i) += element.gradient;
        hessian.block<4, 4>(2 * i, 2 * i) += element.hessian;
      }
      force = 2 * std::numbers::pi * std::fabs(gradient[1]);
      const Eigen::VectorXd step = hessian.block(2, 2, size, size).ldlt().solve(gradient.segment(2, size));
      x.segment(2, size) -= step;
      if (step.cwiseAbs().maxCoeff() < 1e-13) break;
    }
    forces.push_back(force);
  }
  return forces;
}

}  // namespace isocloth::bench
