#include "host/impulse/impulse_garments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/garment/reach.hpp"

namespace isocloth {
namespace {

std::vector<Index> all_pinned_nodes(const Garment& garment) {
  std::vector<Index> nodes;
  for (const Pin& pin : garment.pins) nodes.insert(nodes.end(), pin.nodes.begin(), pin.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

template <class Real>
ImpulseGarments<Real>::ImpulseGarments(const Device& device, std::vector<const Garment*> garments,
                                       const ResolvedScene& resolved,
                                       const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                       OwnForceRate own_rate)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garments_(std::move(garments)),
      lost_(garments_.size(), StepStatus::converged),
      own_rate_(std::move(own_rate)),
      resolved_(resolved),
      scene_(resolved.scene),
      arrays_(device, *garments_.front(), resolved.recipe),
      shapes_(device, garments_, resolved.recipe, arrays_),
      pinned_nodes_(all_pinned_nodes(*garments_.front())) {
  build_rows();
  require_memory(obstacles ? obstacles->size() : 0, obstacles ? obstacles->moving_obstacles.size() : 0);
  build_parameters();
  std::vector<Vec3d> positions;
  std::vector<Vec3<Real>> velocities;
  for (const Garment* garment : garments_) {
    const auto& start = start_positions(*garment);
    positions.insert(positions.end(), start.begin(), start.end());
    const auto own = narrowed<Real>(garment->initial_velocities);
    velocities.insert(velocities.end(), own.begin(), own.end());
    velocities.resize(positions.size());
  }
  positions_ = {device, positions};
  velocities_ = {device, velocities};
  if (obstacles != nullptr) contacts_ = {device, obstacles, garments_};
  holds_ = {device, garments_, pattern(), kernels_.lane_width()};
  forces_ = {device, scene_, garments_};
}

template <class Real>
void ImpulseGarments<Real>::build_rows() {
  const Garment& first = *garments_.front();
  const int width = kernels_.lane_width();
  std::vector<const std::vector<Vec3d>*> rest(shapes_.shapes.size());
  std::vector<std::vector<Real>> inverse_masses;
  std::vector<Real> bending, all_inverse_masses;
  for (std::size_t g = 0; g < size(); ++g) rest[shapes_.of[g]] = &garments_[g]->mesh.positions;
  for (const RestShape<Real>& shape : shapes_.shapes) {
    inverse_masses.push_back(shape.inverse_masses);
    all_inverse_masses.insert(all_inverse_masses.end(), shape.inverse_masses.begin(),
                              shape.inverse_masses.end());
    bending.insert(bending.end(), shape.bending.begin(), shape.bending.end());
  }

  const auto take_order = [this](const std::vector<Index>& numbers, Index offset) {
    for (const Index number : numbers)
      if (number >= 0) sweep_order_.push_back(offset + number);
  };
  if (resolved_.holds_edges) {
    const PacketPlan plan = plan_packets(arrays_.rows.edge_nodes(), arrays_.node_count(), width);
    edges_ = {device_, plan, rest, inverse_masses};
    take_order(plan.pairs, 0);
  } else {
    const RowsView view = arrays_.rows_view();
    const auto take = [&](const StencilPattern& pattern, const auto& group, auto& buffers, Index offset) {
      const StencilPlan plan = plan_stencils(pattern, arrays_.node_count(), width);
      buffers = {device_, plan, shapes_.shapes, group.first_row, group.first_tensor};
      most_slots_ = std::max(most_slots_, most_slots(plan));
      take_order(plan.stencils, offset);
    };
    take(arrays_.rows.triples, view.triples, metric_stencils_, 0);
    take(arrays_.rows.singles, view.singles, scalar_stencils_, arrays_.rows.triples.stencil_count());
  }

  std::vector<char> is_free;
  for (const Real w : inverse_masses.front()) is_free.push_back(w > 0);
  springs_ = {device_, first, size(), resolved_.recipe.yields(), rest, is_free, width};

  inverse_masses_ = {device_, all_inverse_masses};
  bending_ = {device_, bending};
  pinned_ = {device_, pinned_nodes_};
  std::vector<Index> shape_of;
  for (const std::size_t shape : shapes_.of) shape_of.push_back(static_cast<Index>(shape));
  shape_of_ = {device_, shape_of};
}

template <class Real>
void ImpulseGarments<Real>::require_memory(std::size_t obstacle_count, std::size_t moving_count) const {
  const std::size_t of_node = sizeof(Vec3d) + sizeof(Vec3<Real>);
  std::size_t each = of_node * static_cast<std::size_t>(arrays_.node_count()) +
                     sizeof(Vec3d) * pinned_nodes_.size() * largest_start + sizeof(ImpulseParameters<Real>) +
                     sizeof(ImpulseReport) + 2 * sizeof(Real) + springs_.bytes_each();
  const Mesh& mesh = garments_.front()->mesh;
  each += StrainMeter<double>::bytes_each(mesh, shapes_.shapes.size() > 1);
  // With the roundings of as many arrays.
  std::size_t fixed = 16 * Arena::alignment + StrainMeter<double>::bytes_fixed(mesh);
  if (obstacle_count > 0) {
    each += ImpulseContactBuffers<Real>::bytes_each(mesh, obstacle_count, moving_count, eases_out(scene_));
    fixed += ImpulseContactBuffers<Real>::bytes_fixed(mesh) + 8 * Arena::alignment;
  }
  std::size_t grippers = 0;
  for (const Garment* garment : garments_) grippers = std::max(grippers, garment->grippers.size());
  const auto feels_air = [](const Garment* garment) { return garment->fabric.drag.exists(); };
  if (grippers > 0) {
    each += ImpulseHoldBuffers<Real>::bytes_each(pattern(), kernels_.lane_width(), grippers);
    fixed += 14 * Arena::alignment;
  }
  if (std::ranges::any_of(garments_, feels_air)) {
    const std::size_t corners = mesh.face_nodes.size();
    each += (2 + 3 * largest_start) * sizeof(Real);
    fixed +=
        (static_cast<std::size_t>(arrays_.node_count()) + 1 + corners) * sizeof(Index) + 4 * Arena::alignment;
  }
  device_.require({.kind = "a garment like \"" + garments_.front()->name + '"',
                   .count = size(),
                   .bytes_each = each,
                   .bytes_fixed = fixed,
                   .together = 1});
}

template <class Real>
ForceBounds ImpulseGarments<Real>::force_bounds(std::size_t shape) const {
  const std::size_t nodes = arrays_.node_count();
  const RestShape<Real>& own = shapes_.shapes[shape];
  ForceBounds bounds;
  bounds.inverse_masses = {own.inverse_masses.begin(), own.inverse_masses.end()};
  springs_.count_into(bounds, nodes);
  if (!arrays_.has_bending) return bounds;
  const std::vector<Index> begin = arrays_.bending_begin.download();
  for (std::size_t i = 0; i < nodes; ++i) {
    double sum = 0;
    for (Index e = begin[i]; e < begin[i + 1]; ++e) sum += std::abs(static_cast<double>(own.bending[e]));
    bounds.bending.push_back(sum);
  }
  return bounds;
}

/// Coordinates are rounded once when sweeps look at them and once at the end of a part: two ends, of u times
/// the extent of the sheet each, change a length by up to four of these.
template <class Real>
double ImpulseGarments<Real>::rounding_of_strains(const Mesh& mesh) const {
  const std::vector<Vec3d>& nodes = mesh.positions;
  Vec3d low = nodes.front(), high = low;
  for (const Vec3d& p : nodes) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  double shortest = std::numeric_limits<double>::infinity();
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    for (std::size_t c = 0; c < face.size(); ++c)
      shortest = std::min(shortest, norm(nodes[face[(c + 1) % face.size()]] - nodes[face[c]]));
  }
  const bool squared = !resolved_.holds_edges;  // C = 2 strain
  return (squared ? 8 : 4) * std::numeric_limits<Real>::epsilon() * norm(high - low) / shortest;
}

/// Largest length of an edge over that at rest, see ImpulseParameters::longest_edge.
double longest_edge(const Recipe& recipe, const Fabric& fabric) {
  constexpr double any = 1e20;
  if (!recipe.limits_edges()) return 0;
  return fabric.strain_limit > 0 ? 1 + fabric.strain_limit : any;
}

template <class Real>
void ImpulseGarments<Real>::build_parameters() {
  std::vector<ForceBounds> bounds;
  for (std::size_t s = 0; s < shapes_.shapes.size(); ++s) bounds.push_back(force_bounds(s));
  parameters_.clear();
  fastest_ = 0;
  for (std::size_t g = 0; g < size(); ++g) {
    const Fabric& f = garments_[g]->fabric;
    const ForceBounds& own = bounds[shapes_.of[g]];
    const double rate = own_rate_ ? own_rate_(f, own.inverse_masses) : own.rate(f);
    settings_ = resolved_.impulse(std::max(rate, least_rate_));
    fastest_ = std::max(fastest_, rate);
    if (scene_.step * rate > settings_.substeps * (1 + whole_tolerance))
      throw SceneError(text("garment \"", garments_[g]->name, "\": impulse.substeps: found ",
                            settings_.substeps, " parts of a step of ", scene_.step, " s, expected at least ",
                            std::ceil(scene_.step * rate),
                            " for its springs, bending or metric, which are explicit; use 0, or softer ones, "
                            "or a shorter step"));
    const auto per_mass = [&f](double x) { return static_cast<Real>(x / f.density); };
    // What the systems of another model have is none of the preview's.
    const double explicit_part = own_rate_ ? 0 : 1;
    const double part = scene_.step / settings_.substeps;
    parameters_.push_back(
        {.part = part,
         .parts = settings_.substeps,
         .sweep_tolerance =
             std::max(settings_.tolerance - rounding_of_strains(garments_[g]->mesh), settings_.tolerance / 2),
         .inverse_density = per_mass(1),
         .gravity = per_mass(f.gravity_density * gravity(g)),
         .drag = per_mass(explicit_part * f.mass_damping),
         .kappa = per_mass(explicit_part * f.bending_stiffness),
         .beta = per_mass(explicit_part * f.stiffness_damping),
         .longest_edge = static_cast<Real>(longest_edge(resolved_.recipe, f)),
         .yield_strain = static_cast<Real>(yields_at(f)),
         .flow = static_cast<Real>(part / (part + f.plasticity.flow_time)),
         .structural_stiffness = per_mass(f.structural_spring.stiffness),
         .structural_damping = per_mass(f.structural_spring.damping),
         .shear_stiffness = per_mass(f.shear_spring.stiffness),
         .shear_damping = per_mass(f.shear_spring.damping),
         .bend_stiffness = per_mass(f.bend_spring.stiffness),
         .bend_damping = per_mass(f.bend_spring.damping),
         .contact_offset = static_cast<Real>(contact_offset(*garments_[g], scene_)),
         .contact_scale = static_cast<Real>(settings_.substeps * f.density + scene_.step * f.mass_damping),
         .reach = reach(*garments_[g], scene_)});
  }
  device_parameters_ = {device_, parameters_};
}

template <class Real>
ImpulsePattern<Real> ImpulseGarments<Real>::pattern() const {
  ImpulsePattern<Real> pattern{.node_count = arrays_.node_count(),
                               .most_slots = most_slots_,
                               .edges = edges_.view(),
                               .metric_stencils = metric_stencils_.view(),
                               .scalar_stencils = scalar_stencils_.view(),
                               .structural_springs = {},
                               .shear_springs = {},
                               .bend_springs = {},
                               .pinned_nodes = pinned_.view(),
                               .bending = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
                               .bending_values = bending_.view(),
                               .inverse_masses = inverse_masses_.view()};
  springs_.take_over(pattern);
  holds_.take_over(pattern);
  return pattern;
}

template <class Real>
ImpulseCloths<Real> ImpulseGarments<Real>::cloths() {
  const auto& constant = std::as_const(*this);
  return {.pattern = pattern(),
          .control = {.max_sweeps = settings_.max_sweeps,
                      .converge = settings_.mode == ImpulseMode::converge,
                      .velocity_pass = settings_.velocity_pass == VelocityPass::on,
                      .tolerance = settings_.tolerance,
                      .largest_residual = isocloth::largest_residual(resolved_.holds_edges),
                      .relaxation = settings_.relaxation},
          .cloth_count = static_cast<Index>(size()),
          .shapes = constant.shape_of_.view(),
          .parameters = constant.device_parameters_.view(),
          .targets = constant.targets_.view(),
          .positions = positions_.view(),
          .velocities = velocities_.view(),
          .contacts = contacts_.view(),
          .holds = holds_.view(),
          .plastic = springs_.strains(),
          .faces = forces_.faces(arrays_),
          .forces = forces_.sets()};
}

template <class Real>
void ImpulseGarments<Real>::copy_to(State& copy) const {
  positions_.copy_to(copy.positions);
  velocities_.copy_to(copy.velocities);
  contacts_.copy_to(copy.contacts);
  holds_.copy_to(copy.holds);
  springs_.copy_to(copy.springs);
  copy.lost = lost_;
}

template <class Real>
void ImpulseGarments<Real>::put_back(const State& copy) {
  positions_.upload(copy.positions);
  velocities_.upload(copy.velocities);
  contacts_.put_back(copy.contacts);
  holds_.put_back(copy.holds);
  springs_.put_back(copy.springs);
  lost_ = copy.lost;
}

template <class Real>
void ImpulseGarments<Real>::lose(std::size_t member, StepStatus status) {
  lost_[member] = status;
  // Both were changed in place, and may hold what is no number.
  contacts_.set_state(member, contacts_.no_contacts(), contacts_.eased(member));
  std::vector<HoldState> holds = holds_.state(member);
  for (HoldState& hold : holds) hold.force = {};
  holds_.set_state(member, holds);
}

template <class Real>
void ImpulseGarments<Real>::set_targets(const std::vector<Clock>& clocks, double h, int steps) {
  contacts_.set_motions(clocks, h, steps);
  holds_.set_motions(clocks, h, steps);
  forces_.set(clocks, h, steps);
  const std::size_t per_cloth = 3 * pinned_nodes_.size();
  const std::size_t count = static_cast<std::size_t>(steps) * size() * per_cloth;
  if (count == 0) return;
  if (targets_.size() < count) targets_ = {device_, count};
  targets_.write(count, staging_, [&](double* values) {
    for (int n = 0; n < steps; ++n)
      for (std::size_t g = 0; g < size(); ++g) {
        double* const own = values + (n * size() + g) * per_cloth;
        const Garment& garment = *garments_[g];
        for (const Pin& pin : garment.pins)
          for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
            const Vec3d p = pin_position(garment, pin, i, clocks[g].time(h, n + 1));
            const auto at = std::lower_bound(pinned_nodes_.begin(), pinned_nodes_.end(), pin.nodes[i]);
            double* const target = own + 3 * (at - pinned_nodes_.begin());
            target[0] = p.x, target[1] = p.y, target[2] = p.z;
          }
      }
  });
}

template <class Real>
std::vector<Measures> ImpulseGarments<Real>::measure(std::size_t begin, std::size_t count) {
  if (!measures_) measures_ = std::make_unique<GarmentMeasures<Real>>(device_, arrays_);
  const std::size_t nodes = arrays_.node_count();
  std::vector<Vec3d> staging;
  std::vector<Measures> result;
  for (std::size_t member = begin; member < begin + count; ++member) {
    shapes_.load(member, arrays_);
    const std::size_t first = member * nodes;
    const Vec3d* const x = std::as_const(positions_).read(first, nodes, staging);
    const Buffer<Vec3<Real>> own(device_, narrowed<Real>(std::vector<Vec3d>(x, x + nodes)));
    const auto velocities = slice(std::as_const(velocities_).view(), first, first + nodes);
    result.push_back(measures_
                         ->measure(rest_view(arrays_), flat(own.view()), flat(velocities), {},
                                   {garments_[member]}, 0, 1, scene_.gravity, resolved_.holds_edges)
                         .front());
  }
  return result;
}

template <class Real>
std::vector<FieldView> ImpulseGarments<Real>::views(GarmentField field) {
  const auto of_nodes = [&](auto& vectors) -> std::vector<FieldView> {
    const std::size_t nodes = static_cast<std::size_t>(arrays_.node_count());
    return {field_view(device_, flat(vectors.view()).data(), size(), 1, 3 * nodes, nodes, 3)};
  };
  if (field == GarmentField::positions) return of_nodes(positions_);
  if (field == GarmentField::velocities) return of_nodes(velocities_);
  if (field == GarmentField::hold_forces)
    return holds_.exist() ? of_nodes(holds_.forces()) : std::vector<FieldView>();
  if (field != GarmentField::strains) return contacts_.views(field);
  strains();
  return {strain_meter_->view()};
}

template <class Real>
std::vector<Strain> ImpulseGarments<Real>::strains() {
  if (!strain_meter_) strain_meter_ = std::make_unique<StrainMeter<double>>(device_, garments_, 1);
  return strain_meter_->measure(flat(std::as_const(positions_).view()));
}

template <class Real>
Inspection ImpulseGarments<Real>::inspect(std::size_t member, double, double) {
  throw ShapeError(text("garment \"", garments_[member]->name, "\": found the recipe ", scene_.recipe,
                        ", expected one that projects: impulses have no linear iteration to inspect"));
}

template <class Real>
std::string ImpulseGarments<Real>::instructions() const {
  return device_.backend().memory.host_accessible ? to_string(device_.simd()) : device_.backend().name;
}

template <class Real>
GarmentInfo ImpulseGarments<Real>::info(std::size_t) const {
  std::size_t bytes = arrays_.memory_bytes() + edges_.memory_bytes() + metric_stencils_.memory_bytes() +
                      scalar_stencils_.memory_bytes() + springs_.memory_bytes() + contacts_.memory_bytes() +
                      holds_.memory_bytes() + forces_.memory_bytes() +
                      (strain_meter_ ? strain_meter_->memory_bytes() : 0) + work_bytes();
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(pinned_, shape_of_, bending_, inverse_masses_, velocities_, device_parameters_, targets_, positions_);
  return {.node_count = arrays_.node_count(),
          .face_count = arrays_.face_count(),
          .row_count = arrays_.rows.row_count(),
          .free_node_count = arrays_.pattern.free_count(),
          .memory_bytes = bytes / size(),
          .solver = solver_name() + stable_parts()};
}

template class ImpulseGarments<float>;
template class ImpulseGarments<double>;

}  // namespace isocloth
