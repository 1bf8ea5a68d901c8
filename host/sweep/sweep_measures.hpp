// What a sweep measures of each case.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/results/run_record.hpp"
#include "host/sweep/reference_path.hpp"

namespace isocloth {

struct SweepMeasure {
  std::string name;  ///< name of the column in the table
  std::string unit;  ///< unit of the measure; may be empty
  std::string doc;
  std::string word;  ///< word by which it is asked for with --measure
  Index node = -1;   ///< number N of node:N, else -1
};

/// The columns of these --measure words; node:N makes three. None: a sensible choice. Throws SceneError for
/// an unknown word (with the nearest known one), a node that the mesh lacks, a distance without reference,
/// and a measure twice.
std::vector<SweepMeasure> sweep_measures(const std::vector<std::string>& words, Index node_count,
                                         bool has_reference);
/// The words of all measures with their meaning, for --help.
std::string sweep_measure_help();

/// Times of which frames count, both ends included [s].
struct SweepWindow {
  double from = 0, to = 0;
};

/// Measures one case while it runs. Distances of shared nodes at a frame, with m_i the lumped area of node i
/// (each face gives its corners equal shares): mean |d_i|; area-weighted root mean square over the window,
/// max |d_i|, and the norm of Coltraro 2022, (25), sqrt(sum m_i |d_i|^2), averaged over the window.
class SweepRecorder {
 public:
  /// `reference` may be null and must outlive the recorder.
  SweepRecorder(const Garment& garment, const ReferencePath* reference, const SweepWindow& window);

  /// Adds a step that ends at `time` [s].
  void add_step(double time, const StepReport& report);
  void add_frame(double time, const Measures& measures, const std::vector<Vec3d>& positions);
  /// Values of the measures, one number per column; not finite when the case left the finite numbers.
  std::vector<double> values(const std::vector<SweepMeasure>& measures) const;
  bool missed_tolerance() const { return stalled_frames_ > 0; }
  /// How far the seam or button that is most open is open at the end [m].
  double seam_opening() const { return last_.measures.seam_opening; }
  bool has_open_seams() const { return seam_opening() > closed_; }

 private:
  bool is_in_window(double time) const;
  double value(const SweepMeasure& measure) const;

  const ReferencePath* reference_;
  SweepWindow window_;
  std::vector<std::pair<Index, Index>> shared_;  // nodes of the garment and of the reference
  std::vector<double> areas_;                    // [m^2], shape [shared]
  std::vector<Vec3d> positions_;                 // of the last frame
  FrameMetrics last_, within_;  // within_: of its steps and frames, by the rules of the quantities
  double distance_mean_ = 0, distance_square_ = 0, distance_norm_ = 0, distance_max_ = 0;
  double residual_ = 0;
  double closed_ = 0;        // openings of seams that count as closed [m]
  bool is_stalled_ = false;  // since the last frame
  std::int64_t frames_ = 0, steps_ = 0, iterations_ = 0, stalled_frames_ = 0;
};

}  // namespace isocloth
