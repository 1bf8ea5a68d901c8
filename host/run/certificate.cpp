#include "host/run/certificate.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/bound_text.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/position_text.hpp"
#include "engine/core/text.hpp"
#include "engine/model/surfaces.hpp"

namespace isocloth {

std::string describe_near(const Nearness& near, const Scene& scene, const Separation& separation) {
  if (near.near_count == 0) return "";
  std::string then =
      ": they are pushed apart in the first steps, which gives them speed; contact.initial "
      "\"separate\" parts them before";
  if (scene.contact.initial == ClothStart::separate) {
    then = text(": parted before the first step, which moved ", separation.nodes, " nodes, by at most ",
                separation.farthest, " m");
    if (separation.pairs_left > 0)
      then += text("; ", separation.pairs_left,
                   " pairs stay nearer, as pins or what is around them leave no room");
  }
  const ToldApart least = told_apart(near.nearest.distance, near.nearest.thickness, 9, true);
  return text(near.near_count, " pairs of cloth start nearer than their thickness, least ", least.found,
              " m of ", least.bound, " m, ", describe(near.nearest, scene), then);
}

Certificate::Certificate(const Scene& scene) : scene_(scene), intersections_(scene) {}

IntersectionReport Certificate::of(const Simulation& simulation) {
  return intersections_.of(simulation.positions(), simulation.time());
}

void Certificate::begin_step(const Simulation& simulation) { before_ = simulation.positions(); }

void Certificate::count(const Simulation& simulation, const std::vector<StepReport>& reports,
                        const std::vector<StepRecord>& steps, RunSummary& summary) {
  const std::vector<std::vector<Vec3d>> positions = simulation.positions();
  IntersectionReport found = intersections_.of(positions, simulation.time());
  summary.steps_certified += found.is_complete;
  summary.intersections_max = std::max(summary.intersections_max, found.crossing);
  summary.overlaps_max = std::max(summary.overlaps_max, found.overlapping);
  if (found.overlapping > 0 && summary.steps_overlapping++ == 0)
    for (const OverlappingPair& pair : found.overlaps)
      summary.first_overlaps.push_back(text(describe(pair), ", t = ", pair.time, " s"));
  if (found.crossing > 0) {
    if (summary.steps_intersecting++ == 0) summary.first_intersections = std::move(found.pairs);
    return;
  }
  summary.steps_touching += found.touching > 0;
  if (!found.is_complete) return;
  if (const std::vector<Way> known = ways(positions, reports, steps); !known.empty())
    count_ways(known, simulation, summary);
}

std::vector<Vec3d> Certificate::Way::at(double time) const {
  const auto next = static_cast<std::size_t>(std::ranges::lower_bound(times, time) - times.begin());
  std::vector<Vec3d> all = positions[next];
  if (times[next] == time) return all;
  const double share = (time - times[next - 1]) / (times[next] - times[next - 1]);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = positions[next - 1][i] + share * (all[i] - positions[next - 1][i]);
  return all;
}

std::vector<Certificate::Way> Certificate::ways(const std::vector<std::vector<Vec3d>>& positions,
                                                const std::vector<StepReport>& reports,
                                                const std::vector<StepRecord>& steps) const {
  std::vector<Way> all;
  for (std::size_t g = 0; g < positions.size(); ++g) {
    const std::vector<SubstepRecord>& parts = steps[g].parts;
    const auto count = static_cast<std::size_t>(reports[g].substeps);
    if (!parts.empty() && parts.size() < count) return {};
    Way& way = all.emplace_back(Way{{0}, {before_[g]}});
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      way.times.push_back(way.times.back() + parts[p].step);
      way.positions.push_back(as_vectors(parts[p].state.positions));
    }
    const double whole = way.times.back() + (parts.empty() ? 1 : parts.back().step);
    for (double& time : way.times) time /= whole;
    way.times.push_back(1);
    way.positions.push_back(positions[g]);
  }
  return all;
}

void Certificate::count_ways(const std::vector<Way>& ways, const Simulation& simulation,
                             RunSummary& summary) {
  if (!passages_)
    passages_.emplace(meshes_of(garments_of(scene_)), joined_worlds_of(scene_), meeting_driven_of(scene_));
  std::set<double> ends;  // of pieces on which all go straight
  for (const Way& way : ways) ends.insert(way.times.begin() + 1, way.times.end());
  const auto positions_at = [&](double time) {
    std::vector<std::vector<Vec3d>> all;
    for (const Way& way : ways) all.push_back(way.at(time));
    return all;
  };
  std::vector<std::vector<Vec3d>> from = before_;
  double begin = 0;
  bool is_complete = true, passes = false;
  for (const double end : ends) {
    std::vector<std::vector<Vec3d>> to = positions_at(end);
    const Passages found = passages_->find(from, to);
    is_complete &= found.is_complete;
    const bool is_first = found.count > 0 && !passes && summary.steps_passing_within == 0;
    for (std::size_t i = 0; is_first && i < found.first.size(); ++i)
      name(found.first[i],
           simulation.time() - (1 - begin - found.first[i].time * (end - begin)) * scene_.step, summary);
    passes |= found.count > 0;
    from = std::move(to);
    begin = end;
  }
  summary.steps_certified_within += is_complete;
  summary.steps_passing_within += passes;
}

void Certificate::name(const Passage& passage, double time, RunSummary& summary) const {
  const std::string &one = scene_.garments[passage.surfaces[0]].name,
                    &other = scene_.garments[passage.surfaces[1]].name;
  const auto& [a, b, c, d] = passage.nodes;
  const std::string which =
      passage.is_edges
          ? text("edge ", std::min(a, b), "-", std::max(a, b), " of ", one, " through edge ", std::min(c, d),
                 "-", std::max(c, d), " of ", other)
          : text("node ", a, " of ", one, " through the triangle ", b, "-", c, "-", d, " of ", other);
  summary.first_passages.push_back(
      text(which, position_text(passage.position.x, passage.position.y, passage.position.z), ", t = ", time,
           " s"));
}

}  // namespace isocloth
