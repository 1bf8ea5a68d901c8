// Figures that instruments read off cloth at rest: of drape, and of the chords of strips and loops.
#pragma once

#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/geometry/drape_shadow.hpp"
#include "engine/model/scene.hpp"
#include "host/fit/fit_file.hpp"

namespace isocloth {

/// One number that was read.
struct Figure {
  std::string name, unit;
  double recorded = 0, noise = 1;
};

/// What instruments read.
struct Reading {
  std::vector<double> values;  ///< value of each figure in its unit, shape [figure]
  int folds = 0;               ///< number of folds of the shadow; 0 without a drape meter
  /// The shadow's edge [m], shape [direction], as it lies to the recorded one; empty without a drape meter.
  std::vector<double> radii;
};

class Instruments {
 public:
  /// Reads the file of the figures; `is_simulated`: it is yet to be written. Throws SceneError for nodes that
  /// the mesh lacks, for cloth that does not reach beyond the disc, and for what the file has that cannot be:
  /// numbers out of range or missing, a silhouette that does not go around the disc; FileError where it
  /// cannot be read.
  Instruments(const ExperimentSpec& experiment, const FitSpec& fit, const Mesh& rest, bool is_simulated);

  const std::vector<Figure>& figures() const { return figures_; }
  double time() const { return data_.time; }
  /// Number of folds that were recorded; 0: none recorded.
  int recorded_folds() const { return folds_; }
  /// The recorded shadow's edge [m], shape [direction]; empty: none recorded.
  const std::vector<double>& recorded_radii() const { return silhouette_; }
  bool has_drape() const { return data_.drape.has_value(); }
  const DrapeMeter& meter() const { return meter_; }

  Reading read(const Mesh& mesh, const std::vector<Vec3d>& positions) const;
  /// Waves as many as folds were recorded, whose height grows from the disc to the rim.
  void add_waves(Garment& garment) const;
  /// The file of what is read, with noise; a silhouette that may be turned is, by any angle.
  std::string file_text(const Mesh& mesh, const std::vector<Vec3d>& positions, Gaussian& noise) const;

 private:
  void read_file(const FitSpec& fit);
  void check_silhouette(const std::vector<Vec2d>& outline, const std::string& where) const;
  double chord(const ChordData& chord, const std::vector<Vec3d>& positions) const;

  const FigureData data_;
  std::string where_;  ///< scene and experiment for messages
  DrapeMeter meter_;
  /// Area of the rest shape outside of the disc [m^2], and distance of its farthest node from the disc's
  /// centre, from above [m].
  double flat_area_ = 0, rim_ = 0;
  bool has_coefficient_ = false;
  int folds_ = 0;
  std::vector<double> silhouette_;
  std::vector<Figure> figures_;
};

}  // namespace isocloth
