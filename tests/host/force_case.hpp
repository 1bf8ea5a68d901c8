// Free sheets, and the ways in which they are stepped, for tests of forces on nodes.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/host/batch_case.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {

struct Way {
  std::string name, recipe;
  ExecutionOptions options;
  ProjectionMethod method = ProjectionMethod::proximal_newton;
};
inline std::vector<Way> ways() {
  std::vector<Way> all;
  for (const Precision precision : both_precisions)
    for (const ProjectionMethod method :
         {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection})
      for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
        all.push_back({std::string(to_string(solver)) + ", " + to_string(precision) +
                           (method == ProjectionMethod::fast_projection ? ", fast projection" : ""),
                       "coltraro2022",
                       {.precision = precision, .solver = solver},
                       method});
  for (const Precision precision : both_precisions)
    for (const char* recipe : {"bender_iterative", "bender_sle"})
      all.push_back({std::string(recipe) + ", " + to_string(precision), recipe, {.precision = precision}});
  return all;
}

/// Free sheets that nothing but their weight acts on.
inline Scene bare_scene(const Way& way, int count) {
  Scene scene;
  scene.recipe = way.recipe;
  scene.step = 0.005;
  scene.duration = 10;
  scene.gravity = 2;
  scene.projection.method = way.method;
  scene.projection.on_violation = OnViolation::go_on;
  for (int g = 0; g < count; ++g) {
    Garment sheet = square_sheet(7, 0.3, 0);
    sheet.name += std::to_string(g);
    sheet.fabric.density = sheet.fabric.gravity_density = 0.2 + 0.1 * g;
    scene.garments.push_back(sheet);
  }
  return scene;
}

/// Forces on the nodes of such a sheet that would accelerate each of them alike: rho m_i a.
inline std::vector<Vec3d> even_forces(const Garment& sheet, Vec3d a) {
  std::vector<Vec3d> forces(sheet.mesh.positions.size());
  const double quad = 0.3 * 0.3 / 36;
  for (Index f = 0; f < sheet.mesh.face_count(); ++f)
    for (const Index node : sheet.mesh.face(f)) forces[node] += sheet.fabric.density * quad / 4 * a;
  return forces;
}

inline double rounding(const Way& way) {
  return way.options.precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                     : std::numeric_limits<double>::epsilon();
}

}  // namespace isocloth
