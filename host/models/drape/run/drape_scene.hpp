// The shape of a scene's cloth by geometry alone, into a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/models/drape/drape.hpp"
#include "host/models/shapes/shape_measures.hpp"
#include "host/results/result_options.hpp"

namespace isocloth {

struct DrapeRequest {
  std::filesystem::path scene, output;
  DrapeSettings settings;
  std::optional<double> time{};  ///< time of the motions of the garment's pins [s]; none: at the start
  IfExists if_exists = IfExists::refuse;
  FileAccess access{};  ///< access to files that the scene names
};

/// The content of summary.json (names of the keys are the names of the members, those of `shape` in between).
struct DrapeSummary {
  std::string scene, garment, method;
  Index node_count = 0, element_count = 0, hanging_count = 0;
  ShapeMeasures shape;
  double potential_energy = 0;  ///< potential energy of gravity as in Measures [J]
  double wall_seconds = 0;      ///< time that the shape took [s]
  std::vector<std::string> warnings;
};
std::string drape_json(const DrapeSummary& summary);

/// Hangs the first garment of the scene from the nodes that it pins; writes drape.obj (with its pattern as
/// texture coordinates), summary.json, the scene, and report.html of one frame. Throws SceneError beginning
/// with the scene's file, MeshError and FileError; leaves nothing then.
DrapeSummary drape_scene(const DrapeRequest& request);

}  // namespace isocloth
