// What must hold of a recording before anything is simulated.
#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "host/files/text_file.hpp"
#include "host/fit/experiment.hpp"
#include "host/fit/find_named.hpp"

namespace isocloth {

void Experiment::find_nodes() {
  if (!spec_.positions) return;
  const std::size_t node_count = scene_.base().garments[0].mesh.positions.size();
  const std::vector<double>& asked = spec_.positions->nodes;
  for (std::size_t i = 0; i < (asked.empty() ? node_count : asked.size()); ++i) {
    const auto node = asked.empty() ? static_cast<Index>(i) : static_cast<Index>(asked[i]);
    const std::string key =
        text(spec_.scene, ": experiment \"", spec_.name, "\": positions.nodes[", i, "]: found ", node);
    if (static_cast<std::size_t>(node) >= node_count)
      throw SceneError(text(key, ", expected a node of the mesh, from 0 to ", node_count - 1));
    if (std::ranges::find(nodes_, node) != nodes_.end())
      throw SceneError(text(key, " a second time, expected distinct nodes"));
    nodes_.push_back(node);
  }
}

void Experiment::find_grippers() {
  for (std::size_t f = 0; f < spec_.forces.size(); ++f)
    grippers_.push_back(
        find_named(scene_.base().garments[0].grippers, spec_.forces[f].gripper,
                   text(spec_.scene, ": experiment \"", spec_.name, "\": forces[", f, "].gripper")));
}

void Experiment::check_windows() const {
  if (!spec_.has_motion()) return;  // figures have their time
  for (const auto& [name, window] : {std::pair{"train", &spec_.train}, {"test", &spec_.test}}) {
    if (window->empty()) continue;
    std::size_t count = 0;
    std::vector<const Recording*> all;
    if (spec_.positions) all.push_back(&positions_);
    for (const Recording& force : forces_) all.push_back(&force);
    for (const Recording* recording : all)
      for (std::size_t sample = 0; sample < recording->times.size(); ++sample)
        if (is_inside(*recording, sample, *window))
          for (std::size_t point = 0; point < recording->point_count; ++point)
            count += is_seen(recording->at(sample, point));
    if (count == 0)
      throw SceneError(text(spec_.scene, ": experiment \"", spec_.name, "\": ", name,
                            ": found no sample from ", (*window)[0], " to ", (*window)[1],
                            " s, expected some; the recording goes from ", all[0]->times.front(), " to ",
                            all[0]->times.back(), " s"));
  }
}

void Experiment::check_lengths() const {
  const Mesh& mesh = scene_.base().garments[0].mesh;
  std::vector<std::ptrdiff_t> point_of(mesh.positions.size(), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    point_of[static_cast<std::size_t>(nodes_[i])] = static_cast<std::ptrdiff_t>(i);
  // Of each edge between recorded nodes, the median over all samples: noise and folds come and go.
  std::vector<double> ratios;
  std::vector<std::size_t> edges(nodes_.size()), far(nodes_.size());
  for (const auto& [a, b] : build_topology(mesh).edges) {
    const std::ptrdiff_t p = point_of[static_cast<std::size_t>(a)], q = point_of[static_cast<std::size_t>(b)];
    if (p < 0 || q < 0) continue;
    std::vector<double> of_edge;
    for (std::size_t sample = 0; sample < positions_.times.size(); ++sample) {
      const double length = norm(positions_.at(sample, static_cast<std::size_t>(p)) -
                                 positions_.at(sample, static_cast<std::size_t>(q)));
      if (std::isfinite(length)) of_edge.push_back(length / norm(mesh.positions[a] - mesh.positions[b]));
    }
    if (of_edge.empty()) continue;
    std::ranges::nth_element(of_edge, of_edge.begin() + static_cast<std::ptrdiff_t>(of_edge.size() / 2));
    const double ratio = of_edge[of_edge.size() / 2];
    ratios.push_back(ratio);
    for (const std::ptrdiff_t end : {p, q}) {
      ++edges[static_cast<std::size_t>(end)];
      far[static_cast<std::size_t>(end)] += ratio > 1.5;
    }
  }
  if (ratios.size() < 3) return;
  std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
  const double median = ratios[ratios.size() / 2];
  if (!(median < 1.5 && median > 0.3))
    throw FileError(
        text(positions_.file, ": found edges that are ", median,
             " times as long as those of the mesh (median), expected about as long; set "
             "positions.transform.scale if the recording has another unit, or give positions.nodes"));
  std::string strangers;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (edges[i] >= 2 && far[i] == edges[i]) strangers += text(strangers.empty() ? "" : ", ", nodes_[i]);
  if (!strangers.empty())
    throw FileError(
        text(positions_.file, ": found node ", printable(strangers, 80),
             " farther than 1.5 edges from every neighbour in most samples, expected the lengths of "
             "the mesh; are nodes swapped, or is positions.nodes in another order?"));
}

void Experiment::check_pins() const {
  const std::vector<Pin>& pins = scene_.base().garments[0].pins;
  for (std::size_t i = 0; i < spec_.follow.size(); ++i) {
    const std::string key = text(spec_.scene, ": experiment \"", spec_.name, "\": follow[", i, "].pin");
    const Pin& pin = pins[find_named(pins, spec_.follow[i].pin, key)];
    for (const Index node : pin.nodes) {
      const auto at = std::ranges::find(nodes_, node);
      if (at == nodes_.end())
        throw SceneError(
            text(key, ": found node ", node, " of it not among positions.nodes, expected all recorded"));
      positions_.at_time(static_cast<std::size_t>(at - nodes_.begin()), 0);  // seen at all
    }
  }
}

}  // namespace isocloth
