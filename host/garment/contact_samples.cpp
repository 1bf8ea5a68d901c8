#include "host/garment/contact_samples.hpp"

#include <algorithm>

#include "engine/mesh/topology.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

std::array<double, 4> ContactSamples::Sample::weights(const Vec2d& uv) const {
  const double u = uv.x, v = uv.y;
  if (count == 1) return {1};
  if (count == 4) return {(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v};
  return {1 - u - v, u, v, 0};
}

ContactSamples::ContactSamples(const Scene& scene, const Garment& garment) {
  const std::size_t obstacles = scene.obstacles.size() + scene.bodies.size();
  if (obstacles == 0) return;
  const Mesh& mesh = garment.mesh;
  const auto of_node = std::min<std::size_t>(obstacles, most_contacts_per_node);
  for (Index node = 0; node < mesh.node_count(); ++node)
    samples_.insert(samples_.end(), of_node, Sample{{node}, 1});
  const auto edges = build_topology(mesh).edges;
  for (Index k = 0; k < (scene.bodies.empty() ? 2 : most_contacts_per_element); ++k) {
    for (const auto& [a, b] : edges) samples_.push_back({{a, b, b, b}, 2});
    for (Index f = 0; f < mesh.face_count(); ++f) {
      Sample sample{{}, mesh.face_size(f)};
      for (std::size_t i = 0; i < 4; ++i)
        sample.nodes[i] = mesh.face(f)[std::min(i, static_cast<std::size_t>(sample.count) - 1)];
      samples_.push_back(sample);
    }
  }
}

}  // namespace isocloth
