// What a fit looks for and in what: a JSON file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/variation.hpp"
#include "host/files/file_access.hpp"
#include "host/files/json_text.hpp"
#include "host/scene/scene_keys.hpp"

namespace isocloth {

/// A number of the garment that is looked for between two bounds.
struct FitParameter {
  std::string number;           ///< path of the number: fabric.mass_damping
  double from = 0, to = 0;      ///< bounds, from < to
  std::optional<double> value;  ///< where the search begins; none: the best of the starts
  Scale scale = Scale::linear;  ///< log: searched and measured by ratios
  bool is_own = false;          ///< one for each experiment, else all share it
  /// For fabric.curves.warp, weft or shear, most control points of the stiffness (StiffnessSpline) that is
  /// looked for in its place, which the bounds then are of [N/m]; 0: a number.
  int points = 0;
  /// Strains [least, most] of the control points; empty: by the strains of the cloth.
  std::vector<double> strain;
  std::vector<double> stages;  ///< stages in which it is looked for, from 1; empty: in all
};

enum class Match {
  nodes,    ///< each recorded point is a node
  surface,  ///< each recorded point is some point of the cloth, the nearest one
};

/// Where nodes were seen.
struct PositionData {
  std::string file;
  Match match = Match::nodes;
  std::vector<double> nodes;  ///< node of each recorded point; empty: point i is node i
  TransformSpec transform;    ///< transform from the recording's coordinates to those of the scene
  double noise = 0.005;       ///< standard deviation of a coordinate [m], > 0
};

/// What a gripper was seen to pull with.
struct ForceData {
  std::string gripper, file;
  double noise = 0.05;  ///< standard deviation of a component [N], > 0
  Vec3d along;          ///< the component that is compared is that along it; zero: all three
};

/// A pin that goes where the recording saw its nodes.
struct FollowSpec {
  std::string pin;
  /// Whether the pin's nodes keep their distances: the rigid motion nearest to what was seen.
  bool is_rigid = false;
};

/// What a drape meter saw: which numbers the file of the figures has.
struct DrapeData {
  Vec2d center;        ///< centre of the disc, from above [m]
  double disc = 0.09;  ///< radius of the disc [m], > 0
  /// Standard deviations of the drape coefficient, and of a radius of the silhouette [m]; > 0.
  double coefficient_noise = 0.01, silhouette_noise = 0.002;
  double fold_height = 0.003;  ///< what a fold of the shadow's edge rises and falls by at least [m], > 0
  /// Height of the waves, as many as folds were recorded, with which the cloth starts [m]; 0: as the scene
  /// says.
  double wave = 0.002;
  bool is_turned = true;  ///< whether it is unknown how the silhouette lies to warp and weft
};

/// The straight line from a node to another one.
struct ChordData {
  enum class Measure {
    length,  ///< length of the line [m]
    angle,   ///< angle of the line below the horizontal [degrees]
  };
  std::string name;
  std::vector<double> nodes;  ///< numbers of the two nodes
  Measure measure = Measure::length;
  double noise = 0.0005;  ///< standard deviation, > 0
};

/// What instruments read off cloth at one time.
struct FigureData {
  std::string file;
  double time = 0;  ///< when the figures are read [s]
  std::optional<DrapeData> drape;
  std::vector<ChordData> chords;
};

/// What of an experiment the squares are of; errors are measured of all that was recorded.
enum class Objective { all, positions, forces };

enum class Alignment { none, translation, rigid };

/// Where the search for a rest begins.
enum class CaseStart {
  previous,  ///< the search begins at the rest before, moved along
  recorded,  ///< the search begins at the recorded nodes
};

/// One motion that was recorded, and the scene that is to move like it.
struct ExperimentSpec {
  std::string name, scene;
  std::optional<PositionData> positions;
  std::vector<ForceData> forces;
  std::optional<FigureData> figures;
  std::vector<double> train, test;  ///< time windows [from, to] of samples [s]; empty: none
  Alignment alignment = Alignment::none;
  double most_tilt = 0;  ///< largest tilt of the recording's vertical, to be found [degrees]; 0: none
  /// Largest delay of the recording's clock, either way, to be found [s]; 0: none.
  double most_delay = 0;
  std::vector<FollowSpec> follow;
  /// Half width in time of the local regression of the pins of `follow`; 0: none [s].
  double smoothing = 0;
  double lead_in = 0;  ///< time from the scene's start to the first sample [s]
  double weight = 1;   ///< factor of the experiment's squares
  /// Whether anything was recorded over time.
  bool has_motion() const { return positions || !forces.empty(); }
  bool at_rest = false;  ///< each sample is the cloth at rest, held as it is then; see RestCases
  CaseStart start = CaseStart::previous;
  Objective objective = Objective::all;
  std::vector<double> stages;  ///< stages in which it is trained on, from 1; empty: in all
};

enum class Loss { squares, huber, cauchy };

enum class Search { levenberg_marquardt, gauss_newton, nelder_mead, bobyqa };

struct FitSpec {
  std::string name;
  std::vector<FitParameter> parameters;
  std::vector<ExperimentSpec> experiments;
  Loss loss = Loss::squares;
  double outlier = 3;  ///< residual from which on losses other than squares bend [noise]
  std::size_t starts = 16;
  std::uint64_t seed = 0;
  int levels = 1;            ///< the training windows grow to their whole length in so many equal parts
  int most_iterations = 30;  ///< most iterations of each level
  Search search = Search::levenberg_marquardt;
  bool scans = true;  ///< whether the loss around what was found is scanned
  /// Whether, of three recordings or more, each is foretold by a fit to the others.
  bool leave_one_out = true;
  /// Factor of the second differences of stiffness over its mean, which are residuals, too [noise].
  double regularisation = 1;
  double difference = 0.01;  ///< width of finite differences, as a part of the way between the bounds
  /// The last stage of any parameter or experiment, 1 where there are none.
  int stage_count() const;
  std::filesystem::path folder;  ///< folder of the file, relative to which others are named
  /// Files that its scenes may name: those in the tree of the folder, and what is allowed besides.
  FileAccess access;
  Json text;  ///< the file as it stands
};

/// Whether a list of stages holds one; an empty list holds all.
bool is_in_stage(const std::vector<double>& stages, int stage);

/// Throws SceneError and FileError, each one line that begins with the file's name: what Keys refuse, bounds
/// that are crossed or not positive on a log scale, a start outside of them, windows that are no two
/// ascending times, no training window at all, an experiment without recording, a name or a parameter twice.
FitSpec read_fit(const std::filesystem::path& path, const FileAccess& access = {});

/// JSON Schema of the file.
std::string fit_schema();

}  // namespace isocloth
