#include "host/results/summary_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/files/names.hpp"
#include "host/files/text_file.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {

static void to_json(Json& to, const IntersectingPair& pair) {
  to = Json{{"time", pair.time}, {"edge_garment", pair.edge_garment},
            {"edge", pair.edge}, {"face_garment", pair.face_garment},
            {"face", pair.face}, {"place", pair.position}};
}

static void from_json(const Json& from, IntersectingPair& pair) {
  from.at("time").get_to(pair.time);
  from.at("edge_garment").get_to(pair.edge_garment);
  from.at("edge").get_to(pair.edge);
  from.at("face_garment").get_to(pair.face_garment);
  from.at("face").get_to(pair.face);
  from.at("place").get_to(pair.position);
}

namespace {

/// Calls visit(name, member) for every member.
template <class Summary, class Visit>
void for_each_member(Summary& s, const Visit& visit) {
  visit("status", s.status);
  visit("message", s.message);
  visit("warnings", s.warnings);
  visit("scene", s.scene);
  visit("recipe", s.recipe);
  visit("method", s.method);
  visit("metric", s.metric);
  visit("backend", s.backend);
  visit("precision", s.precision);
  visit("solver", s.solver);
  visit("machine", s.machine);
  visit("version", s.version);
  visit("threads", s.threads);
  visit("garment_count", s.garment_count);
  visit("node_count", s.node_count);
  visit("element_count", s.element_count);
  visit("row_count", s.row_count);
  visit("step_count", s.step_count);
  visit("frame_count", s.frame_count);
  visit("step", s.step);
  visit("tolerance", s.tolerance);
  visit("simulated_seconds", s.simulated_seconds);
  visit("wall_seconds", s.wall_seconds);
  visit("setup_seconds", s.setup_seconds);
  visit("realtime_factor", s.realtime_factor);
  visit("iterations_per_step_mean", s.iterations_per_step_mean);
  visit("iterations_per_step_max", s.iterations_per_step_max);
  visit("steps_violated", s.steps_violated);
  visit("garments_frozen", s.garments_frozen);
  visit("garments_stalled", s.garments_stalled);
  visit("frozen", s.frozen);
  visit("fallbacks", s.fallbacks);
  visit("cloth_contacts_max", s.cloth_contacts_max);
  visit("held_back", s.held_back);
  visit("blocked", s.blocked);
  visit("cloth_loaded_max", s.cloth_loaded_max);
  visit("cloth_force_max", s.cloth_force_max);
  visit("cloth_gap_min", s.cloth_gap_min);
  visit("cg_iterations_max", s.cg_iterations_max);
  visit("substeps_max", s.substeps_max);
  visit("seam_opening", s.seam_opening);
  visit("frames_of", s.frames_of);
  visit("residual_max", s.residual_max);
  visit("penetration_max", s.penetration_max);
  visit("eased_depth", s.eased_depth);
  visit("contact_count_max", s.contact_count_max);
  visit("contact_force_max", s.contact_force_max);
  visit("contact_force", s.contact_force);
  visit("friction_stick_fraction", s.friction_stick_fraction);
  visit("held_count_max", s.held_count_max);
  visit("gripper_force_max", s.gripper_force_max);
  visit("body_poses", s.body_poses);
  visit("strain_max", s.strain.max);
  visit("strain_p95", s.strain.p95);
  visit("strain_mean", s.strain.mean);
  visit("stretch_max", s.strain.stretch_max);
  visit("stretch_p95", s.strain.stretch_p95);
  visit("compression_max", s.strain.compression_max);
  visit("thread_strain_max", s.strain.thread_max);
  visit("thread_strain_p95", s.strain.thread_p95);
  visit("shear_max", s.strain.shear_max);
  visit("shear_p95", s.strain.shear_p95);
  visit("row_strain_max", s.row_strain_max);
  visit("steps_certified", s.steps_certified);
  visit("steps_intersecting", s.steps_intersecting);
  visit("steps_touching", s.steps_touching);
  visit("intersections_max", s.intersections_max);
  visit("first_intersections", s.first_intersections);
  visit("steps_overlapping", s.steps_overlapping);
  visit("overlaps_max", s.overlaps_max);
  visit("first_overlaps", s.first_overlaps);
  visit("steps_certified_within", s.steps_certified_within);
  visit("steps_passing_within", s.steps_passing_within);
  visit("first_passages", s.first_passages);
  visit("area_error_total_max", s.area_error_total_max);
  visit("area_error_element_mean_max", s.area_error_element_mean_max);
  visit("area_error_element_max", s.area_error_element_max);
  visit("memory_bytes", s.memory_bytes);
  visit("seed", s.seed);
}

/// Members that summaries written before they were there lack.
bool is_optional(std::string_view name) {
  constexpr std::string_view later[] = {
      "cloth_loaded_max", "cloth_force_max", "cloth_gap_min",          "cg_iterations_max",
      "substeps_max",     "eased_depth",     "steps_certified_within", "steps_passing_within",
      "first_passages",   "blocked",         "steps_overlapping",      "overlaps_max",
      "first_overlaps"};
  return std::find(std::begin(later), std::end(later), name) != std::end(later);
}

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"") == std::string::npos) return name;
  std::string all = "\"";
  for (const char c : name) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all.append("\"");
}

}  // namespace

std::string summary_json(const RunSummary& summary) {
  Json root;
  for_each_member(summary, [&root](const char* name, const auto& member) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(member)>>) {
      if (std::isinf(member)) {
        throw NumericalError(text("summary: found ", name, " ", member, ", expected a finite number"));
      }
      if (std::isnan(member)) {
        root[name] = nullptr;
        return;
      }
    }
    root[name] = member;
  });
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunSummary parse_summary(const std::string& content, const std::string& source) {
  RunSummary summary;
  try {
    const Json root = parse_json(content, source);
    for_each_member(summary, [&root](const char* name, auto& member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      if (is_optional(name) && !root.contains(name)) return;
      const Json& found = root.at(name);
      if constexpr (std::is_floating_point_v<Member>) {
        member = found.is_null() ? std::numeric_limits<double>::quiet_NaN() : found.get<double>();
      } else {
        member = found.get<Member>();
      }
    });
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();
    throw FileError(
        text(source, ": not a summary of this version: ", printable(what.substr(what.find("] ") + 2), 200)));
  } catch (const SceneError& error) {
    throw FileError(error.what());
  }
  return summary;
}

RunSummary read_summary(const std::filesystem::path& path) {
  return parse_summary(read_whole_file(path), path.string());
}

std::string metric_names(bool has_energies) {
  std::string names;
  for (const MetricColumn& column : metric_columns(has_energies))
    names += (names.empty() ? "" : ",") + column.name;
  return names;
}

std::string metrics_header(bool has_energies) {
  return "frame,step,time,garment,status," + metric_names(has_energies) + "\n";
}

std::string metrics_lines(std::int64_t frame, std::int64_t step, double time,
                          const std::vector<std::string>& garments, const std::vector<FrameMetrics>& metrics,
                          bool has_energies) {
  const std::vector<MetricColumn> columns = metric_columns(has_energies);
  const std::string begin = text(frame, ",", step, ",", shortest(time), ",");
  std::string lines;
  for (std::size_t g = 0; g < metrics.size(); ++g) {
    lines.append(begin).append(quoted(garments[g])).append(",").append(to_string(metrics[g].status));
    for (const MetricColumn& column : columns) {
      char number[40];
      number[0] = ',';
      const char* const end = std::to_chars(number + 1, number + sizeof number, column.get(metrics[g])).ptr;
      lines.append(number, static_cast<std::size_t>(end - number));
    }
    lines += "\n";
  }
  return lines;
}

}  // namespace isocloth
