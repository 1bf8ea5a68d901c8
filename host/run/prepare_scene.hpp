// What `run` and `check` share: a scene brought to its first frame, and what is likely wrong with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model/separation.hpp"
#include "host/results/run_record.hpp"
#include "host/run/certificate.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Whether a frame, whose positions are float32, can hold the numbers.
bool fits_a_frame(const std::vector<Vec3d>& positions, const FrameMetrics& metrics);

/// The simulation of a scene of that file at its start: shapes measured, nodes sought in obstacles, matrices
/// planned. Throws SceneError, MeshError and DeviceError beginning with the file's name: all that Simulation
/// throws, states that no frame can hold, and too little memory.
Simulation start_simulation(const Scene& scene, const std::filesystem::path& file,
                            const ExecutionOptions& options);

/// Cloth in cloth at the start of the scene that `simulation` was made of: what that has found already, with
/// contact.cloth, or what is found now.
IntersectionReport start_intersections(const Scene& scene, const Simulation& simulation);

/// What a scene was likely meant otherwise in, a line each: units (a garment of more than 20 m, fabrics of
/// more than 20 kg/m^2, ...), pressure that throws cloth by elements in a step, fabrics that no steps hold
/// (fabric_warnings.hpp, with what it refuses), parts that nothing connects and seams left open, pins that
/// are taken farther apart than the cloth is long, grippers that reach nothing, frames of more than 20 GB;
/// solver_warnings; and cloth that passes through cloth at the start (start_intersections) or lies in it,
/// which with contact.cloth is a SceneError instead, beginning with the file's name, or starts nearer than it
/// is thick or inside of a driven garment that is closed, with what was done to that (`separation`). Of
/// garments with the same trouble the first is named and the others counted.
std::vector<std::string> start_warnings(const Scene& scene, const IntersectionReport& start,
                                        const std::filesystem::path& file, Precision precision,
                                        const Separation& separation = {});

/// Nodes of a garment's start that a gripper reaches when it closes first, or where only commands close it at
/// the start, and how far the nearest node is from its region then [m], <= 0: inside.
struct Reach {
  double time = 0;  ///< time at which the gripper closes [s]
  Index node_count = 0;
  double nearest = 0;
};
Reach first_reach(const Garment& garment, const Gripper& gripper);

/// Lowest and highest coordinates [m].
struct Bounds {
  Vec3d low, high;
  double longest() const;
};
Bounds bounds_of(const std::vector<Vec3d>& positions);

}  // namespace isocloth
