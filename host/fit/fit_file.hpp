// What a fit looks for and in what: a JSON file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/variation.hpp"
#include "host/files/json_text.hpp"
#include "host/scene/scene_keys.hpp"

namespace isocloth {

/// A number of the garment that is looked for between two bounds.
struct FitParameter {
  std::string number;           ///< path of the number: fabric.alpha
  double from = 0, to = 0;      ///< bounds, from < to
  std::optional<double> value;  ///< where the search begins; none: the best of the starts
  Scale scale = Scale::linear;  ///< log: searched and measured by ratios
  bool is_own = false;          ///< one for each experiment, else all share it
};

enum class Match {
  nodes,    ///< each recorded point is a node
  surface,  ///< it is some point of the cloth: the nearest
};

/// Where nodes were seen.
struct PositionData {
  std::string file;
  Match match = Match::nodes;
  std::vector<double> nodes;  ///< of the recorded points; empty: point i is node i
  TransformSpec transform;    ///< from the recording's coordinates to those of the scene
  double noise = 0.005;       ///< standard deviation of a coordinate [m], > 0
};

/// What a gripper was seen to pull with.
struct ForceData {
  std::string gripper, file;
  double noise = 0.05;  ///< standard deviation of a component [N], > 0
};

/// A pin that goes where the recording saw its nodes.
struct FollowSpec {
  std::string pin;
  bool is_rigid = false;  ///< its nodes keep their distances: the rigid motion nearest to what was seen
};

enum class Alignment { none, translation, rigid };

/// One motion that was recorded, and the scene that is to move like it.
struct ExperimentSpec {
  std::string name, scene;
  std::optional<PositionData> positions;
  std::vector<ForceData> forces;
  std::vector<double> train, test;  ///< [from, to] of samples [s]; empty: none
  Alignment alignment = Alignment::none;
  double most_tilt = 0;   ///< of the recording's vertical, to be found [degrees]; 0: none
  double most_delay = 0;  ///< of the recording's clock, either way, to be found [s]; 0: none
  std::vector<FollowSpec> follow;
  double smoothing = 0;  ///< half width in time of the local regression of these pins; 0: none [s]
  double lead_in = 0;    ///< from the scene's start to the first sample [s]
  double weight = 1;     ///< of its squares
};

enum class Loss { squares, huber, cauchy };

struct FitSpec {
  std::string name;
  std::vector<FitParameter> parameters;
  std::vector<ExperimentSpec> experiments;
  Loss loss = Loss::squares;
  double outlier = 3;  ///< where other losses begin to bend [noise]
  std::size_t starts = 16;
  std::uint64_t seed = 0;
  int levels = 1;                ///< the training windows grow to their whole length in so many equal parts
  int most_iterations = 30;      ///< of each level
  double difference = 0.01;      ///< of finite differences, as a part of the way between the bounds
  std::filesystem::path folder;  ///< of the file: others are named relative to it
  Json text;                     ///< the file as it stands
};

/// Throws SceneError and FileError, each one line that begins with the file's name: what Keys refuse, bounds
/// that are crossed or not positive on a log scale, a start outside of them, windows that are no two
/// ascending times, no training window at all, an experiment without recording, a name or a parameter twice.
FitSpec read_fit(const std::filesystem::path& path);

/// JSON Schema of the file.
std::string fit_schema();

}  // namespace isocloth
