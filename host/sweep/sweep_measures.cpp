#include "host/sweep/sweep_measures.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/rows/surface_element.hpp"
#include "host/files/text_file.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {
namespace {

/// "Window" stands for the frames and steps that --window leaves.
struct KnownMeasure {
  std::string name, unit, doc;
  enum class Of { worst, mean, end, own } of = Of::own;  ///< what counts of a column in the window
  const MetricColumn* column = nullptr;
};

/// Of each quantity of steps and measures by its rule: the worst or the sum in the window, or the mean there
/// and the value at the end. Some have measures of their own.
std::vector<KnownMeasure> all_measures() {
  using Of = KnownMeasure::Of;
  std::vector<KnownMeasure> all;
  for (const MetricColumn& column : metric_columns()) {
    const About& about = column.about;
    const std::string unit = about.unit == std::string_view("1") ? "" : about.unit;
    const auto add = [&](const char* after, const char* words, Of of) {
      all.push_back({column.name + after, unit, text(about.doc, words), of, &column});
    };
    if (column.part != "steps" && column.part != "measures") continue;
    if (about.rule == Rule::end_sum) {
      add("_mean", ", mean in the window", Of::mean);
      add("_end", " at the end", Of::end);
    } else if (about.rule == Rule::end_most) {
      add("", " at the end", Of::end);
    } else if (about.rule != Rule::none) {
      add("", about.rule == Rule::sum ? ", sum in the window" : ", worst in the window", Of::worst);
    }
  }
  for (const KnownMeasure& own : std::initializer_list<KnownMeasure>{
           {"residual_max", "", "largest constraint residual of all steps"},
           {"iterations_mean", "", "linear solves per step, mean of all steps"},
           {"stalled_frames", "", "frames in which a step missed its tolerance, of the whole run"},
           {"distance_mean", "m", "distance to the reference, mean over shared nodes and the window"},
           {"distance_rms", "m", "root mean square of the distance over area and the window"},
           {"distance_max", "m", "largest distance of a node to the reference in the window"},
           {"distance_norm", "m^2",
            "mean over the window of sqrt(sum m_i |d_i|^2), m_i the area of node i; "
            "Coltraro 2022 (25)"}})
    all.push_back(own);
  return all;
}
const std::vector<KnownMeasure>& known_measures() {
  static const std::vector<KnownMeasure> all = all_measures();
  return all;
}

bool is_distance(const std::string& name) { return name.starts_with("distance_"); }

void add_node(std::vector<SweepMeasure>& columns, const std::string& word, Index node_count) {
  double node = 0;
  const bool is_number = parse_finite(std::string_view(word).substr(5), node);
  if (!is_number || node < 0 || node >= node_count || node != std::floor(node)) {
    throw SceneError(text("--measure: found \"", printable(word), "\", expected node:N with N from 0 to ",
                          node_count - 1));
  }
  for (const char* axis : {"x", "y", "z"})
    columns.push_back({text("node", static_cast<Index>(node), "_", axis), "m",
                       text("place of node ", static_cast<Index>(node), " at the end"), word,
                       static_cast<Index>(node)});
}

}  // namespace

std::vector<SweepMeasure> sweep_measures(const std::vector<std::string>& words, Index node_count,
                                         bool has_reference) {
  std::vector<std::string> chosen = words;
  if (chosen.empty()) {
    if (has_reference) chosen = {"distance_mean"};
    for (const char* word :
         {"strain_max", "area_error_total", "iterations_mean", "kinetic_energy_mean", "potential_energy_end"})
      chosen.emplace_back(word);
  }
  std::vector<SweepMeasure> columns;
  std::vector<std::string> names{"node:N"};
  for (const KnownMeasure& measure : known_measures()) names.emplace_back(measure.name);
  for (const std::string& word : chosen) {
    const auto refuse = [&word](const std::string& expected) {
      throw SceneError(text("--measure: found \"", printable(word), "\", expected ", expected));
    };
    if (is_distance(word) && !has_reference) refuse("--against with it, which says the distance to what");
    const std::size_t count = columns.size();
    if (word.starts_with("node:")) {
      add_node(columns, word, node_count);
    } else {
      const auto& known = known_measures();
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const KnownMeasure& m) { return m.name == word; });
      if (found == known.end()) refuse(text("a measure; the nearest is \"", nearest_name(word, names), "\""));
      columns.push_back({found->name, found->unit, found->doc, word, -1});
    }
    // node:10 and node:1e1 are the same column.
    for (std::size_t c = 0; c < count; ++c)
      if (columns[c].name == columns[count].name) refuse("each measure once");
  }
  return columns;
}

std::string sweep_measure_help() {
  std::string help = "what to measure, the first is what sweep.svg shows: node:N (its place at the end)";
  for (const KnownMeasure& measure : known_measures()) help += text(", ", measure.name);
  return help;
}

SweepRecorder::SweepRecorder(const Garment& garment, const ReferencePath* reference,
                             const SweepWindow& window)
    : reference_(reference), window_(window), closed_(closed_opening(garment.mesh)) {
  if (!reference_) return;
  const Mesh& mesh = garment.mesh;
  shared_ = reference_->shared_nodes(mesh);
  std::vector<double> areas(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    Vec3d corners[4];
    const int size = static_cast<int>(mesh.face_size(f));
    for (int c = 0; c < size; ++c) corners[c] = mesh.positions[mesh.face(f)[c]];
    for (const Index node : mesh.face(f)) areas[node] += element_area(corners, size) / size;
  }
  for (const auto& [own, other] : shared_) areas_.push_back(areas[own]);
}

// A time at the window's end counts although k h is not exact.
bool SweepRecorder::is_in_window(double time) const {
  const double slack = 1e-9 * (1 + std::abs(window_.to));
  return time >= window_.from - slack && time <= window_.to + slack;
}

void SweepRecorder::add_step(double time, const StepReport& report) {
  last_.steps = report;
  if (is_in_window(time)) add_by_rule(Further::step, report, within_.steps);
  ++steps_;
  iterations_ += report.iterations;
  if (std::isfinite(report.residual)) residual_ = std::max(residual_, report.residual);
  is_stalled_ = is_stalled_ || report.status > StepStatus::cut;
}

void SweepRecorder::add_frame(double time, const Measures& measures, const std::vector<Vec3d>& positions) {
  stalled_frames_ += is_stalled_ ? 1 : 0;
  is_stalled_ = false;
  last_.measures = measures;
  positions_ = positions;
  if (!is_in_window(time)) return;
  ++frames_;
  add_by_rule(Further::garment, measures, within_.measures);  // energies: their sum over frames
  if (!reference_) return;
  double sum = 0, square = 0, area = 0;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const auto [own, other] = shared_[i];
    const double distance = norm(positions[own] - reference_->position(other, time));
    sum += distance;
    square += areas_[i] * distance * distance;
    area += areas_[i];
    distance_max_ = std::max(distance_max_, distance);
  }
  distance_mean_ += sum / static_cast<double>(shared_.size());
  distance_square_ += square / area;
  distance_norm_ += std::sqrt(square);
}

double SweepRecorder::value(const SweepMeasure& measure) const {
  const std::string& name = measure.name;
  const auto frames = static_cast<double>(frames_);
  if (name == "residual_max") return residual_;
  if (name == "iterations_mean") return static_cast<double>(iterations_) / static_cast<double>(steps_);
  if (name == "stalled_frames") return static_cast<double>(stalled_frames_);
  if (name == "distance_mean") return distance_mean_ / frames;
  if (name == "distance_rms") return std::sqrt(distance_square_ / frames);
  if (name == "distance_max") return distance_max_;
  if (name == "distance_norm") return distance_norm_ / frames;
  const auto& known = known_measures();
  const auto found = std::ranges::find(known, name, &KnownMeasure::name);
  if (found != known.end()) {
    if (found->of == KnownMeasure::Of::end) return found->column->get(last_);
    return found->column->get(within_) / (found->of == KnownMeasure::Of::mean ? frames : 1);
  }
  const Vec3d& p = positions_.at(static_cast<std::size_t>(measure.node));  // nodeN_x
  return name.back() == 'x' ? p.x : name.back() == 'y' ? p.y : p.z;
}

std::vector<double> SweepRecorder::values(const std::vector<SweepMeasure>& measures) const {
  std::vector<double> all;
  for (const SweepMeasure& measure : measures) all.push_back(value(measure));
  return all;
}

}  // namespace isocloth
