// What is seen, read and written of all garments at once.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>

#include "engine/core/enum_check.hpp"
#include "engine/core/text.hpp"
#include "host/simulation/simulation_members.hpp"

namespace isocloth {

namespace {

/// Some cloths of a view where the host can reach them: in place, or as one copy of the tiles that hold them.
template <class Real>
class CopiedTiles {
 public:
  CopiedTiles(const Device& device, const FieldView& view, std::size_t first, std::size_t last)
      : device_(device),
        tile_(static_cast<std::size_t>(view.strides[0])),
        count_((last + 1 - first) * tile_),
        data_(static_cast<Real*>(view.data) + first * tile_) {}
  /// The first of the tiles; zeros in a copy that nobody has downloaded.
  Real* data() {
    if (!is_copy()) return data_;
    copy_.resize(count_);
    return copy_.data();
  }
  void download() {
    if (!is_copy()) return;
    copy_.resize(count_);
    device_.check(
        device_.backend().memory.download(device_.queue(), copy_.data(), data_, count_ * sizeof(Real)));
  }
  void upload() {
    if (!is_copy()) return;
    device_.check(
        device_.backend().memory.upload(device_.queue(), data_, copy_.data(), count_ * sizeof(Real)));
  }

 private:
  bool is_copy() const { return !device_.backend().memory.host_accessible; }

  const Device& device_;
  const std::size_t tile_, count_;
  Real* const data_;
  std::vector<Real> copy_;
};

/// A cloth in a view, and its nodes in an array of the caller.
template <class Vector>
struct Transfer {
  std::size_t cloth = 0;
  Vector* nodes = nullptr;
};

/// use(value in the view, value of the caller) for every coordinate of the cloths; data: of tile `first`.
template <class Real, class Vector, class Use>
void for_each_value(Real* data, std::size_t first, const FieldView& view,
                    const std::vector<Transfer<Vector>>& transfers, const Use& use) {
  const auto lanes = static_cast<std::size_t>(view.shape[1]), nodes = static_cast<std::size_t>(view.shape[2]);
  for (const Transfer<Vector>& transfer : transfers) {
    Real* own = data + (transfer.cloth / lanes - first) * static_cast<std::size_t>(view.strides[0]) +
                transfer.cloth % lanes;
    for (std::size_t i = 0; i < nodes; ++i, own += 3 * lanes) {
      Vector& vector = transfer.nodes[i];
      use(own[0], vector.x);
      use(own[lanes], vector.y);
      use(own[2 * lanes], vector.z);
    }
  }
}

/// Copies between a view and the caller; Vector const: into the view.
template <class Real, class Vector>
void transfer(const Device& device, const FieldView& view, const std::vector<Transfer<Vector>>& transfers) {
  const auto lanes = static_cast<std::size_t>(view.shape[1]);
  const auto [low, high] = std::minmax_element(
      transfers.begin(), transfers.end(), [](const auto& a, const auto& b) { return a.cloth < b.cloth; });
  const std::size_t first = low->cloth / lanes, last = high->cloth / lanes;
  CopiedTiles<Real> tiles(device, view, first, last);
  if constexpr (std::is_const_v<Vector>) {
    std::vector<char> is_written((last + 1 - first) * lanes, 0);
    for (const auto& each : transfers) is_written[each.cloth - first * lanes] = 1;
    if (std::count(is_written.begin(), is_written.end(), 0) > 0) tiles.download();
    for_each_value(tiles.data(), first, view, transfers,
                   [](Real& value, const double& from) { value = static_cast<Real>(from); });
    tiles.upload();
  } else {
    tiles.download();
    for_each_value(tiles.data(), first, view, transfers,
                   [](const Real& value, double& to) { to = static_cast<double>(value); });
  }
}

}  // namespace

std::vector<FieldView> Simulation::Members::views(GarmentField field) const {
  std::vector<std::vector<std::size_t>> garments;
  for (const auto& solver : solvers.solvers) garments.emplace_back(solver->size());
  for (std::size_t g = 0; g < solvers.members.size(); ++g)
    garments[solvers.members[g].solver][solvers.members[g].member] = g;
  std::vector<FieldView> all;
  for (std::size_t s = 0; s < garments.size(); ++s)
    for (FieldView& view : solvers.solvers[s]->views(field)) {
      for (std::size_t& garment : view.garments) garment = garments[s][garment];
      all.push_back(std::move(view));
    }
  return all;
}

/// Copies a field of garments from or to their nodes.
template <class Vector>
void Simulation::Members::transfer_nodes(GarmentField field, const std::vector<std::size_t>& garments,
                                         const std::vector<Vector*>& nodes) const {
  const std::vector<FieldView> all = views(field);
  std::vector<std::pair<std::size_t, std::size_t>> places(solvers.members.size());
  for (std::size_t v = 0; v < all.size(); ++v)
    for (std::size_t c = 0; c < all[v].garments.size(); ++c) places[all[v].garments[c]] = {v, c};
  std::vector<std::vector<Transfer<Vector>>> transfers(all.size());
  for (std::size_t i = 0; i < garments.size(); ++i) {
    const auto [v, c] = places[garments[i]];
    transfers[v].push_back({c, nodes[i]});
  }
  for (std::size_t v = 0; v < all.size(); ++v) {
    if (transfers[v].empty()) continue;
    if (all[v].precision == Precision::float32)
      transfer<float>(device, all[v], transfers[v]);
    else
      transfer<double>(device, all[v], transfers[v]);
  }
}

template void Simulation::Members::transfer_nodes(GarmentField, const std::vector<std::size_t>&,
                                                  const std::vector<Vec3d*>&) const;

std::vector<FieldView> Simulation::view(GarmentField field) {
  require_enum<ShapeError>("field", field, GarmentField::hold_forces);
  std::vector<FieldView> views = members().views(field);
  if (!views.empty()) return views;
  const char* const needs = field == GarmentField::hold_forces ? "grippers" : "obstacles or bodies";
  throw ShapeError(text("field: found ", to_string(field), " of a scene without ", needs,
                        ", expected a scene with some, or another field"));
}

namespace {

void require_node_vectors(GarmentField field) {
  require_enum<ShapeError>("field", field, GarmentField::hold_forces);
  if (field != GarmentField::positions && field != GarmentField::velocities)
    throw ShapeError(
        text("field: found ", to_string(field), ", expected positions or velocities; see view()"));
}

/// Where each garment's nodes are in an array of the caller.
template <class Vector>
std::vector<Vector*> node_arrays(const Scene& scene, const std::vector<std::size_t>& garments,
                                 ArrayView<Vector> all, const char* name) {
  std::vector<Vector*> nodes;
  std::size_t expected = 0;
  for (const std::size_t g : garments) {
    check_index(g, scene.garments.size());
    nodes.push_back(all.data() + expected);
    expected += scene.garments[g].mesh.positions.size();
  }
  if (all.size() != expected)
    throw ShapeError(text(name, ": found ", all.size(), " nodes, expected ", expected));
  return nodes;
}

}  // namespace

void Simulation::read(GarmentField field, const std::vector<std::size_t>& garments,
                      ArrayView<Vec3d> out) const {
  require_node_vectors(field);
  members().transfer_nodes(field, garments, node_arrays(members().scene, garments, out, "out"));
}

void Simulation::read(GarmentField field, ArrayView<Vec3d> out) const {
  read(field, members().all_garments(), out);
}

void Simulation::write(GarmentField field, const std::vector<std::size_t>& garments,
                       ArrayView<const Vec3d> values) {
  members().require_idle("write");
  require_node_vectors(field);
  check_indices(garments, garment_count());
  const std::vector<const Vec3d*> nodes = node_arrays(members().scene, garments, values, "values");
  const double largest = members().options.precision == Precision::float32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const double x : {values[i].x, values[i].y, values[i].z})
      if (!(std::abs(x) <= largest))
        throw ShapeError(text("values: found ", x, " at node ", i,
                              ", expected a finite number in the precision of the simulation"));
  members().transfer_nodes(field, garments, nodes);
  for (const std::size_t g : garments) members().air[g] = {};  // its wake is that of another motion
  std::vector<std::vector<std::size_t>> written(members().solvers.solvers.size());
  for (const std::size_t g : garments)
    written[members().solvers.members[g].solver].push_back(members().solvers.members[g].member);
  for (std::size_t s = 0; s < written.size(); ++s) {
    members().solvers.solvers[s]->wake();
    members().solvers.solvers[s]->forget_step_before(written[s]);
  }
}

void Simulation::write(GarmentField field, ArrayView<const Vec3d> values) {
  write(field, members().all_garments(), values);
}

std::vector<std::vector<Vec3d>> Simulation::positions() const {
  std::vector<std::vector<Vec3d>> all;
  std::vector<Vec3d*> nodes;
  for (const Garment& garment : members().scene.garments)
    nodes.push_back(all.emplace_back(garment.mesh.positions.size()).data());
  members().transfer_nodes(GarmentField::positions, members().all_garments(), nodes);
  return all;
}

}  // namespace isocloth
