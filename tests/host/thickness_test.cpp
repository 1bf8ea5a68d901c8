// The thickness of cloth between solids: what it is under a load, and that a load rests, presses and holds as
// the law of compression says (engine/material/compression.hpp).
#include "tests/host/thickness_case.hpp"

namespace isocloth {
namespace {

constexpr double radius = 0.03;

Scene ball_on_cotton(double mass, double step) {
  Scene scene = squeeze_scene(sheet_over_plane(5, 0.05, 0.000214, preset("cotton")), step);
  scene.obstacles = {obstacle(PlaneShape{}, {}, 0.3)};
  scene.bodies = {body(SphereShape{radius}, mass, {0, 0, radius + 0.0004}, 0.3)};
  return scene;
}

TEST(Thickness, BallsOfAnyMassRestOnCloth) {
  for (const double mass : {1e-4, 0.01, 0.9, 50.0, 1000.0}) {
    std::vector<double> heights;
    for (const double step : {0.001, 0.005, 0.01}) {
      const Scene scene = ball_on_cotton(mass, step);
      Simulation simulation(scene, one_thread());
      Course course;
      double square = 0, force = 0;
      const int steps = static_cast<int>(std::lround(1 / step));
      for (int n = 0; n < steps; ++n) {
        course.add(simulation.step()[0]);
        if (n < steps / 2) continue;
        square += dot(simulation.bodies()[0].velocity, simulation.bodies()[0].velocity);
      }
      const ContactMeasures contacts = simulation.contacts(0);
      force = contacts.forces[0].z;
      const double weight = (mass + 0.0025 * scene.garments[0].fabric.gravity_density) * scene.gravity,
                   speed = std::sqrt(square / (steps - steps / 2));
      heights.push_back(simulation.bodies()[0].pose.center.z - radius);
      std::printf(
          "%g kg, %g s: %.3f iterations (%d), %d missed, %.1e m/s, force / weight - 1 %.1e, t %.5f mm\n",
          mass, step, course.mean(), course.most_iterations, course.missed, speed, force / weight - 1,
          1e3 * heights.back());
      EXPECT_LE(course.mean(), 1.3) << mass << " kg, " << step << " s";
      EXPECT_EQ(course.missed, 0) << mass << " kg, " << step << " s";
      EXPECT_LT(speed, 1e-6) << mass << " kg, " << step << " s";
      EXPECT_NEAR(force, weight, 1e-4 * weight) << mass << " kg, " << step << " s";
    }
    const double thickness = preset("cotton").compression.thickness;
    for (const double height : heights) EXPECT_NEAR(height, heights[0], 1e-4 * thickness) << mass;
  }
}

// A square that lies on whole cells has the thickness of its pressure, on any mesh.
TEST(Thickness, IsThatOfThePressure) {
  const Fabric cotton = preset("cotton");
  std::vector<double> found;
  for (const Index n : {5, 9, 17}) {
    Scene scene = squeeze_scene(sheet_over_plane(n, 0.08, cotton.compression.thickness / 2, cotton), 0.005);
    scene.obstacles = {obstacle(PlaneShape{}, {}, 0.3)};
    scene.bodies = {
        body(BoxShape{{0.1, 0.1, 0.04}, 0.002}, 2, {0, 0, 0.02 + cotton.compression.thickness}, 0.3)};
    Simulation simulation(scene, one_thread());
    Course course;
    for (int step = 0; step < 200; ++step) course.add(simulation.step()[0]);
    found.push_back(simulation.bodies()[0].pose.center.z - 0.02);
    std::printf("%d nodes a side: %.3f iterations (%d), t %.6f mm\n", n, course.mean(),
                course.most_iterations, 1e3 * found.back());
    EXPECT_EQ(course.missed, 0);
  }
  // The upper side bears the box, the lower one the cloth, too: half of t each.
  const double area = 0.0064, weight = 2 * 9.81,
               expected = (cotton.compression.thickness_at(weight / area) +
                           cotton.compression.thickness_at(weight / area + cotton.gravity_density * 9.81)) /
                          2;
  std::printf("t(p) %.6f mm\n", 1e3 * expected);
  for (const double t : found) {
    EXPECT_NEAR(t, expected, 1e-3 * expected);
    EXPECT_NEAR(t, found[0], 1e-4 * cotton.compression.thickness);
  }
}

// A plate of 10 cm goes down onto cloth on a table, stays, and goes up again.
TEST(Thickness, APressHasTheForceOfThePressure) {
  Fabric cotton = preset("cotton");
  cotton.thickness = 1e-3;
  cotton.compression = compression_of_thickness(cotton.thickness);
  for (const double step : {0.001, 0.005}) {
    Scene scene = squeeze_scene(sheet_over_plane(15, 0.3, 0.0005, cotton), step);
    scene.obstacles = {obstacle(PlaneShape{}, {}, 0.4),
                       obstacle(BoxShape{{0.1, 0.1, 0.1}, 0.005}, {0, 0, 0.15}, 0.4)};
    scene.obstacles[0].name = "table";
    KeyframeMotion motion;
    motion.times = {0, 0.5, 0.7, 1};
    motion.translations = {{}, {0, 0, -0.0994}, {0, 0, -0.0994}, {0, 0, 0.05}};
    scene.obstacles[1].motion = motion;
    Simulation simulation(scene, one_thread());
    Course course;
    double energy = 0, early = 0, force = 0;
    const int steps = static_cast<int>(std::lround(1 / step));
    for (int n = 1; n <= steps; ++n) {
      course.add(simulation.step()[0]);
      energy = std::max(energy, simulation.measure(0).kinetic_energy);
      const double t = n * step;
      if (t < 0.56) early = simulation.contacts(0).forces[1].z;
      if (t < 0.69) force = simulation.contacts(0).forces[1].z;
    }
    const double area = area_of_nodes(
        15, 0.3, [](double x, double y) { return std::max(std::abs(x), std::abs(y)) < 0.0451; });
    const double expected = -area * cotton.compression.pressure(0.6e-3);
    std::printf(
        "%g s: %.3f iterations (%d), %d missed, kinetic energy %.1e J, force %.6g N, A p %.6g N, change "
        "%.1e\n",
        step, course.mean(), course.most_iterations, course.missed, energy, force, expected,
        force / early - 1);
    EXPECT_LT(energy, 1e-4) << step;
    EXPECT_EQ(course.missed, 0) << step;
    EXPECT_NEAR(force, expected, 0.02 * std::abs(expected)) << step;
    EXPECT_NEAR(force, early, 1e-6 * std::abs(expected)) << step;
  }
}

// Two fingers hold a towel of T 2.36 mm at a gap and nothing else does.
TEST(Thickness, FingersThatStopHoldWithAConstantForce) {
  constexpr double weight = 0.2 * 0.01 * 9.81;
  for (const double share : {0.9, 0.8, 0.5, 0.3}) {
    Fabric towel;
    towel.density = towel.gravity_density = 0.2;
    towel.bending_stiffness = 2e-5;
    towel.stretch_stiffness = 2000;
    towel.shear_stiffness = 100;
    towel.compression = fitted_compression(2.2e-3, 1.2e-3, 0.4);
    towel.thickness = towel.compression.thickness;
    Garment sheet = square_sheet(6, 0.1, 0.2);
    towel.mass_damping = 0.2;
    sheet.fabric = towel;
    for (Vec3d& p : sheet.initial_positions) p = {p.x, 0, p.y};
    Gripper gripper;
    gripper.name = "gripper";
    gripper.region = BoxShape{{0.12, 0.05, 0.004}, 0};
    gripper.position = {0, 0, 0.05};
    gripper.holds = {{0, 0.5}};
    sheet.grippers = {gripper};
    Scene scene = squeeze_scene(sheet, 0.005);
    const double gap = share * towel.thickness, begin = 1.1 * towel.thickness;
    for (const double side : {-1.0, 1.0}) {
      Obstacle finger = obstacle(BoxShape{{0.06, 0.02, 0.04}, 0.004}, {0, side * (0.01 + begin / 2), 0}, 0.5);
      finger.name = side < 0 ? "left" : "right";
      KeyframeMotion motion;
      motion.times = {0, 0.2};
      motion.translations = {{}, {0, side * (gap - begin) / 2, 0}};
      finger.motion = motion;
      scene.obstacles.push_back(finger);
    }
    Simulation simulation(scene, one_thread());
    Course course;
    double at_1 = 0, z_1 = 0, z_2 = 0;
    const int steps = 1400;
    for (int n = 1; n <= steps; ++n) {
      course.add(simulation.step()[0]);
      if (n == 200) at_1 = simulation.contacts(0).forces[0].y;
      if (n == 400) z_1 = mean(simulation.positions(0)).z;
    }
    z_2 = mean(simulation.positions(0)).z;
    const ContactMeasures contacts = simulation.contacts(0);
    const double force = contacts.forces[0].y, carried = contacts.force.z / weight,
                 area = area_of_nodes(
                     6, 0.1, [](double x, double y) { return std::abs(x) < 0.026 && std::abs(y) < 0.016; });
    std::printf(
        "%.2f T: %.3f iterations (%d), %d missed, %.6g N at 1 s, %.6g N at 7 s, A p %.6g N, carries %.6f, "
        "creep %.1e mm/min\n",
        share, course.mean(), course.most_iterations, course.missed, at_1, force,
        area * towel.compression.pressure(gap), carried, 1e3 * (z_1 - z_2) * 60 / 5);
    EXPECT_NEAR(force, at_1, 1e-4 * force) << share;
    EXPECT_EQ(course.missed, 0) << share;
    if (gap > towel.compression.core) {
      EXPECT_NEAR(force, area * towel.compression.pressure(gap), 1e-4 * force);
    }
    if (force * 2 * 0.5 < weight) continue;
    EXPECT_NEAR(carried, 1, 1e-4) << share;
    EXPECT_LT(std::abs(z_1 - z_2) * 1e3 * 12, 1e-3) << share;
  }
}

Scene slope_scene(double tangent, double mu_static, double mu_dynamic, double speed, double step) {
  Fabric fabric;
  fabric.density = fabric.gravity_density = 0.2;
  fabric.bending_stiffness = 2e-5;
  fabric.stretch_stiffness = 2000;
  fabric.shear_stiffness = 100;
  fabric.thickness = 1e-3;
  const double angle = std::atan(tangent);
  Garment sheet = square_sheet(9, 0.3, 0);
  sheet.fabric = fabric;
  const Vec3d along{std::cos(angle), 0, -std::sin(angle)}, up{std::sin(angle), 0, std::cos(angle)};
  for (Vec3d& p : sheet.initial_positions) p = p.x * along + Vec3d{0, p.y, 0} + 0.0005 * up;
  sheet.initial_velocities.assign(sheet.initial_positions.size(), speed * along);
  Scene scene = squeeze_scene(sheet, step);
  scene.obstacles = {obstacle(PlaneShape{}, {}, mu_static, {0, angle, 0})};
  scene.obstacles[0].friction = {mu_static, mu_dynamic};
  return scene;
}

TEST(Thickness, SheetsOnSlopesStickOrSlideAsCoulombSays) {
  struct Case {
    double tangent, mu_static, mu_dynamic, speed;
  };
  for (const double step : {0.001, 0.005})
    for (const Case& c : {Case{0.45, 0.5, 0.3, 0},
                          {0.495, 0.5, 0.5, 0},
                          {0.505, 0.5, 0.5, 0},
                          {0.8, 0.5, 0.3, 0},
                          {0.45, 0.5, 0.3, 0.5}}) {
      Simulation simulation(slope_scene(c.tangent, c.mu_static, c.mu_dynamic, c.speed, step), one_thread());
      const Vec3d begin = mean(simulation.positions(0));
      Course course;
      const double time = 1;
      for (int n = 0; n < std::lround(time / step); ++n) course.add(simulation.step()[0]);
      const double angle = std::atan(c.tangent), g = 9.81, way = norm(mean(simulation.positions(0)) - begin),
                   pull = g * (std::sin(angle) - c.mu_dynamic * std::cos(angle));
      const bool sticks = c.speed == 0 && c.tangent < c.mu_static;
      const double expected = sticks ? 0 : c.speed * time + pull * time * time / 2;
      std::printf("tan %g, %g / %g, %g m/s, %g s: %.3f iterations (%d), %d missed, %.6g m, expected %.6g\n",
                  c.tangent, c.mu_static, c.mu_dynamic, c.speed, step, course.mean(), course.most_iterations,
                  course.missed, way, expected);
      // The first steps find their friction late: some of what they gain, and a hundredth of gravity.
      EXPECT_NEAR(way, expected, sticks ? 2e-5 : 4 * step * pull * time + 0.01 * g * time * time / 2);
    }
}

// Light cloth on a floor: friction that a step accepts must not drive it.
TEST(Thickness, SheetsThatSlideToAStopLie) {
  const Fabric cotton = preset("cotton");
  for (const double step : {0.005, 0.01}) {
    double longest = 0;
    for (int n = 0; n < 10; ++n) {
      const double speed = 0.2 + 0.2 * n;
      Garment sheet = sheet_over_plane(5, 0.2, cotton.thickness / 2, cotton);
      sheet.initial_velocities.assign(sheet.initial_positions.size(), {speed, 0, 0});
      Scene scene = squeeze_scene(sheet, step);
      scene.obstacles = {obstacle(PlaneShape{}, {}, 0.5)};
      Simulation simulation(scene, one_thread());
      simulation.advance(static_cast<int>(std::lround(2 / step)));
      const Vec3d before = simulation.positions(0)[12];
      simulation.advance(static_cast<int>(std::lround(0.5 / step)));
      const Vec3d after = simulation.positions(0)[12];
      EXPECT_LT(norm(after - before), 1e-6) << speed << " m/s, " << step;
      longest = std::max(longest, after.x / (speed * speed / scene.gravity) - 1);
    }
    std::printf("%g s: at most %.1f %% too far\n", step, 100 * longest);
  }
}

// A box on cloth that is drawn away under it: friction alone moves it.
TEST(Thickness, ABoxOnClothThatIsDrawnAwayAcceleratesAsFrictionHasIt) {
  for (const double step : {0.001, 0.005}) {
    constexpr double a = 6, rest = 0.3;
    KeyframeMotion motion;
    for (int n = 0; n <= std::lround(0.62 / step); ++n) {
      motion.times.push_back(n * step);
      const double t = std::max(0.0, n * step - rest);
      motion.translations.push_back({a * t * t / 2, 0, 0});
    }
    Garment sheet;
    sheet.name = "sheet";
    sheet.mesh = quad_grid(25, 13, 0.6, 0.3);
    Fabric& f = sheet.fabric;
    f.density = f.gravity_density = 0.2;
    f.bending_stiffness = 2e-5;
    f.stretch_stiffness = 5000;
    f.shear_stiffness = 200;
    f.thickness = 1e-3;
    for (Vec3d& p : sheet.mesh.positions) p -= Vec3d{0.3, 0.15, 0};
    sheet.initial_positions = sheet.mesh.positions;
    Pin edge{"edge", {}, motion};
    for (std::size_t i = 0; i < sheet.mesh.positions.size(); ++i) {
      sheet.initial_positions[i].z += 0.0005;
      if (sheet.mesh.positions[i].x > 0.299) edge.nodes.push_back(static_cast<Index>(i));
    }
    sheet.pins = {edge};
    Scene scene = squeeze_scene(sheet, step);
    scene.obstacles = {obstacle(PlaneShape{}, {}, 0.2)};
    scene.bodies = {body(BoxShape{{0.08, 0.08, 0.04}, 0.003}, 0.2, {0, 0, 0.021}, 0.3)};
    Simulation simulation(scene, one_thread());
    Course course;
    double first = 0, second = 0, force = 0;
    int count = 0;
    for (int n = 1; n <= std::lround(0.6 / step); ++n) {
      course.add(simulation.step()[0]);
      const double t = n * step;
      const double v = simulation.bodies()[0].velocity.x;
      if (std::abs(t - 0.35) < step / 2) first = v;
      second = v;
      if (t > 0.35 + step / 2) force += simulation.contacts(0).forces[1].x, ++count;
    }
    const double found = (second - first) / 0.25, expected = 0.3 * 9.81;
    std::printf(
        "%g s: %.3f iterations (%d), %d missed, %.5f m/s^2, Coulomb %.5f, force on cloth / m a %.5f\n", step,
        course.mean(), course.most_iterations, course.missed, found, expected, -force / count / 0.2 / found);
    EXPECT_NEAR(found, expected, 0.03 * expected);
    EXPECT_NEAR(-force / count, 0.2 * found, 0.2 * found * 0.03);
  }
}

TEST(Thickness, SheetsThatFallOntoATableStay) {
  for (const double speed : {0.1, 1.0, 10.0, 50.0, 200.0})
    for (const double step : {0.001, 0.005}) {
      const Fabric cotton = preset("cotton");
      Garment sheet = sheet_over_plane(7, 0.1, 0.001, cotton);
      sheet.initial_velocities.assign(sheet.initial_positions.size(), {0, 0, -speed});
      Scene scene = squeeze_scene(sheet, step);
      scene.obstacles = {obstacle(PlaneShape{}, {}, 0.3)};
      Simulation simulation(scene, one_thread());
      Course course;
      double rebound = 0, least = 1;
      for (int n = 0; n < std::lround(0.1 / step) + 4; ++n) {
        course.add(simulation.step()[0]);
        for (const Vec3d& v : simulation.velocities(0)) rebound = std::max(rebound, v.z);
        for (const Vec3d& p : simulation.positions(0)) least = std::min(least, p.z);
      }
      std::printf("%g m/s, %g s: %.3f iterations (%d), %d missed, rebound %.4f m/s, least height %.4f mm\n",
                  speed, step, course.mean(), course.most_iterations, course.missed, rebound, 1e3 * least);
      EXPECT_LT(rebound, std::max(0.05 * speed, 0.02)) << speed;
      EXPECT_GT(least, 0) << speed;
      EXPECT_EQ(course.missed, 0) << speed;
    }
}

}  // namespace
}  // namespace isocloth
