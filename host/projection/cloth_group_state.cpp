// What is read from the members of a group and written back.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/garment/contact_state.hpp"
#include "host/garment/state_views.hpp"
#include "host/projection/cloth_group.hpp"

namespace isocloth {
namespace {

/// Numbers of the nodes of an elimination order, ascending.
std::vector<Index> ascending_nodes(const NodalPattern& pattern) {
  std::vector<Index> nodes;
  for (std::size_t node = 0; node < pattern.free_number.size(); ++node)
    if (pattern.free_number[node] >= 0) nodes.push_back(static_cast<Index>(node));
  return nodes;
}

}  // namespace

template <class Real>
std::vector<double> ClothGroup<Real>::gather(const Buffer<Real>& tiled, std::size_t member,
                                             std::size_t count) const {
  std::vector<Real> staging;
  const Real* tile = tiled.read(member / width_ * count * width_, count * width_, staging);
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = tile[i * width_ + member % width_];
  return result;
}

template <class Real>
GarmentState ClothGroup<Real>::state(std::size_t member) const {
  return state_of(states_, member);
}

template <class Real>
GarmentState ClothGroup<Real>::state_before(std::size_t member) const {
  return state_of(before_, member);
}

template <class Real>
std::vector<double> ClothGroup<Real>::positions(std::size_t member) const {
  return gather(states_.positions, member, 3 * arrays_.node_count());
}

template <class Real>
std::vector<double> ClothGroup<Real>::positions_before(std::size_t member) const {
  return gather(before_.positions, member, 3 * arrays_.node_count());
}

template <class Real>
std::vector<GarmentState> ClothGroup<Real>::states() const {
  constexpr Buffer<Real> States::*arrays[] = {&States::positions, &States::velocities, &States::multipliers,
                                              &States::contacts,  &States::history,    &States::plastic};
  std::array<std::vector<Real>, std::size(arrays)> staging;
  std::array<const Real*, std::size(arrays)> all;
  for (std::size_t a = 0; a < all.size(); ++a) all[a] = (states_.*arrays[a]).read(staging[a]);
  std::vector<GarmentState> states;
  for (std::size_t member = 0; member < size(); ++member)
    states.push_back(state_of(member, states_.lost[member], [&](auto array, std::size_t count) {
      const auto a = static_cast<std::size_t>(std::find(std::begin(arrays), std::end(arrays), array) -
                                              std::begin(arrays));
      std::vector<double> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = all[a][slot(member, 0, count) + i * width_];
      return values;
    }));
  return states;
}

template <class Real>
GarmentState ClothGroup<Real>::state_of(const States& states, std::size_t member) const {
  return state_of(member, states.lost[member],
                  [&](auto array, std::size_t count) { return gather(states.*array, member, count); });
}

template <class Real>
template <class Values>
GarmentState ClothGroup<Real>::state_of([[maybe_unused]] std::size_t member, StepStatus lost,
                                        const Values& values) const {
  const std::size_t nodes = arrays_.node_count();
  const ContactStateLayout layout = contact_layout();
  GarmentState state;
  state.positions = values(&States::positions, 3 * nodes);
  state.velocities = values(&States::velocities, 3 * nodes);
  state.multipliers = values(&States::multipliers, row_count_);
  set_lost(lost, state);
  set_contacts(values(&States::contacts, layout.size()), layout, state);
  state.plastic_strains = values(&States::plastic, memory_count());
  const StepHistoryLayout history = pattern().history();
  if (history.nodes == 0) return state;
  const std::vector<double> previous = values(&States::history, history.size());
  state.previous_step = previous[history.step()];
  if (!(state.previous_step > 0)) return state;
  const auto begin = previous.begin(), middle = begin + static_cast<std::ptrdiff_t>(history.velocities());
  state.previous_positions.assign(begin, middle);
  state.previous_velocities.assign(middle, begin + static_cast<std::ptrdiff_t>(history.step()));
  return state;
}

template <class Real>
void ClothGroup<Real>::check(std::size_t member, const GarmentState& state) const {
  const ContactStateLayout layout = contact_layout();
  check_state(state, garments_[member]->name,
              {.nodes = static_cast<std::size_t>(arrays_.node_count()),
               .rows = row_count_,
               .contacts = layout.contacts,
               .eased = layout.eased,
               .obstacles = surroundings_.obstacles.size(),
               .holds = layout.holds,
               .grippers = garments_[member]->grippers.size(),
               .has_history = pattern().has_history,
               .plastic = memory_count()},
              static_cast<double>(std::numeric_limits<Real>::max()));
}

template <class Real>
void ClothGroup<Real>::set_state(std::size_t member, const GarmentState& state) {
  set_states({{.member = member, .state = &state}});
}

template <class Real>
void ClothGroup<Real>::set_states(const std::vector<MemberState>& states) {
  if (states.empty()) return;
  const auto [low, high] = std::minmax_element(
      states.begin(), states.end(), [](const auto& a, const auto& b) { return a.member < b.member; });
  const std::size_t first = low->member / width_, tiles = high->member / width_ + 1 - first;
  // values_of(state): `count` numbers of each; the tiles from the first to the last go back as one.
  const auto scatter = [&](Buffer<Real>& tiled, std::size_t count, const auto& values_of) {
    tiled.edit(first * count * width_, tiles * count * width_, [&](Real* from_first) {
      for (const MemberState& each : states) {
        const std::vector<double>& values = values_of(*each.state);
        Real* const own = from_first + slot(each.member, 0, count) - first * count * width_;
        for (std::size_t i = 0; i < count; ++i) own[i * width_] = static_cast<Real>(values[i]);
      }
    });
  };
  const std::size_t nodes = 3 * static_cast<std::size_t>(arrays_.node_count());
  using Numbers = std::vector<double>;
  scatter(states_.positions, nodes, [](const auto& s) -> const Numbers& { return s.positions; });
  scatter(states_.velocities, nodes, [](const auto& s) -> const Numbers& { return s.velocities; });
  scatter(states_.multipliers, row_count_, [](const auto& s) -> const Numbers& { return s.multipliers; });
  scatter(states_.contacts, contact_layout().size(),
          [this](const auto& s) { return flat_contacts(s, contact_layout()); });
  scatter(states_.history, pattern().history().size(), [this](const auto& s) {
    Numbers previous(pattern().history().size());
    if (!(s.previous_step > 0)) return previous;
    std::copy(s.previous_positions.begin(), s.previous_positions.end(), previous.begin());
    std::copy(s.previous_velocities.begin(), s.previous_velocities.end(),
              previous.begin() + static_cast<std::ptrdiff_t>(s.previous_positions.size()));
    previous.back() = s.previous_step;
    return previous;
  });
  scatter(states_.plastic, memory_count(), [](const auto& s) -> const Numbers& { return s.plastic_strains; });
  scatter(states_.alive, 1, [](const auto& s) { return Numbers{s.frozen ? 0.0 : 1.0}; });
  for (const MemberState& each : states) states_.lost[each.member] = lost_by(*each.state);
}

template <class Real>
void ClothGroup<Real>::forget_step_before(const std::vector<std::size_t>& members) {
  const StepHistoryLayout history = pattern().history();
  if (history.nodes == 0) return;
  for (const std::size_t member : members)
    states_.history.edit(slot(member, history.step(), history.size()), 1, [](Real* step) { *step = 0; });
}

template <class Real>
std::vector<Measures> ClothGroup<Real>::measure(std::size_t first, std::size_t count) {
  if (!measures_) measures_ = std::make_unique<GarmentMeasures<Real>>(device_, arrays_, width_);
  return measures_->measure(rest_shapes(), std::as_const(states_.positions).view(),
                            std::as_const(states_.velocities).view(),
                            {.stiffness = row_stiffness_.view(),
                             .bounds = row_bounds_.view(),
                             .curves = row_curves_.view(),
                             .curve_numbers = pattern().curve_numbers,
                             .measure = resolved_.recipe.strain,
                             .memory = {row_memory_.view(), std::as_const(states_.plastic).view()}},
                            garments_, first, count, scene_.gravity);
}

template <class Real>
std::vector<FieldView> ClothGroup<Real>::views(GarmentField field) {
  const StateArrays<Real> state{states_.positions.view().data(),
                                states_.velocities.view().data(),
                                states_.contacts.view().data(),
                                size(),
                                width_,
                                static_cast<std::size_t>(arrays_.node_count()),
                                contact_layout()};
  return state_views(device_, state, field, [this] { return strains(), strain_meter_->view(); });
}

template <class Real>
StrainMeter<Real>& ClothGroup<Real>::strain_meter() {
  if (!strain_meter_) strain_meter_ = std::make_unique<StrainMeter<Real>>(device_, garments_, width_);
  return *strain_meter_;
}

template <class Real>
std::vector<Strain> ClothGroup<Real>::strains() {
  return strain_meter().measure(std::as_const(states_.positions).view());
}

template <class Real>
GarmentInfo ClothGroup<Real>::info(std::size_t) const {
  return {
      .node_count = arrays_.node_count(),
      .face_count = arrays_.face_count(),
      .row_count = static_cast<Index>(row_count_),
      .free_node_count = arrays_.pattern.free_count(),
      .memory_bytes = memory_bytes() / size(),
      .solver =
          "batched Cholesky, " + (width_ > 1 ? std::to_string(width_) + " lanes, " : std::string()) +
          (device_.backend().memory.host_accessible ? to_string(device_.simd()) : device_.backend().name)};
}

template <class Real>
std::size_t ClothGroup<Real>::memory_bytes() const {
  std::size_t bytes = arrays_.memory_bytes() + samples_.memory_bytes() + surroundings_.memory_bytes();
  auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(plan_, pinned_indices_, driven_indices_, tensors_, rest_values_, masses_, inverse_masses_, bending_,
      rest_areas_);
  add(states_, before_, parameters_, row_stiffness_, row_bounds_, row_curves_, row_viscosity_, row_memory_,
      reports_);
  bytes += pins_.memory_bytes();
  if (measures_) bytes += measures_->memory_bytes();
  if (strain_meter_) bytes += strain_meter_->memory_bytes();
  // Work arrays: one tile per thread of the host, or what lies in a device's memory.
  if (!device_.backend().memory.host_accessible) return bytes + queue_.get().workspace_bytes;
  const BlockMemory work = work_memory();
  return bytes +
         (work.shared + work.workspace) * std::min(tiles_, static_cast<std::size_t>(device_.threads()));
}

template <class Real>
Inspection ClothGroup<Real>::inspect(std::size_t member, double t, double h) {
  const StepScratch at = step_scratch(pattern());
  Buffer<Real> work(device_, tiles_ * at.size * width_);
  set_motions(std::vector<Clock>(size(), {.offset = t, .steps = 0}), h, 1);
  StepCloths<Real> args = arguments(h, 1);
  args.inspection = work.view();
  kernels_.step_cloths(queue_.get(), args);
  queue_.wait();
  const std::vector<double> all = gather(work, member, at.size);
  const double status = gather(reports_, member, sizeof(ClothReport<Real>) / sizeof(Real)).front();
  device_.monitor().check();
  if (status > 1)
    throw NumericalError(
        "garment \"" + garments_[member]->name +
        "\": matrix of the first iteration at t = " + std::to_string(t) +
        " s: found a pivot that is not positive, expected a positive definite matrix; raise projection.eps");
  auto taken = [&all](std::size_t begin, std::size_t count) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                               all.begin() + static_cast<std::ptrdiff_t>(begin + count));
  };
  auto widened = [](const std::vector<Real>& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  const RestShape<Real>& shape = shapes_.shapes[shapes_.of[member]];
  const std::size_t nodes = 3 * static_cast<std::size_t>(arrays_.node_count());
  Inspection result{.masses = widened(shape.masses),
                    .bending_begin = arrays_.bending_begin.download(),
                    .bending_columns = arrays_.bending_columns.download(),
                    .bending = widened(shape.bending),
                    .predicted = taken(at.predicted, nodes),
                    .start = taken(at.velocity, nodes),
                    .row_values = taken(at.residuals, row_count_),
                    .row_d = {},
                    .pairs = arrays_.pattern.pairs,
                    .stiffness = {},
                    .free_nodes = ascending_nodes(arrays_.pattern),
                    .correction = {},
                    .multipliers = taken(at.multipliers, row_count_)};
  for (const double s : taken(at.scales, row_count_))
    result.row_d.push_back(s > 0 ? 1 / (args.control.eps * s * s) : 0);
  if (args.control.newton) result.stiffness = taken(at.stiffness, result.pairs.size());
  for (const Index node : result.free_nodes) {
    const auto d = taken(at.correction + 3 * arrays_.pattern.free_number[node], 3);
    result.correction.insert(result.correction.end(), d.begin(), d.end());
  }
  return result;
}

template class ClothGroup<float>;
template class ClothGroup<double>;

}  // namespace isocloth
