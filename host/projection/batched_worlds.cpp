#include "host/projection/batched_worlds.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "kernels/launch/side_by_side.hpp"

namespace isocloth {
namespace {

/// Puts `member` at place `number`.
void place(std::vector<std::size_t>& members, std::size_t number, std::size_t member) {
  members.resize(std::max(members.size(), number + 1));
  members[number] = member;
}

}  // namespace

template <class Real>
BatchedWorlds<Real>::BatchedWorlds(const Device& device,
                                   std::vector<std::unique_ptr<CoupledSolver<Real>>> worlds,
                                   std::vector<std::unique_ptr<ClothGroup<Real>>> groups,
                                   std::vector<Slot> slots)
    : device_(device), slots_(std::move(slots)), frozen_(slots_.size(), 0) {
  for (auto& solver : worlds) worlds_.emplace_back().solver = std::move(solver);
  for (auto& solver : groups) groups_.emplace_back().solver = std::move(solver);
  for (std::size_t m = 0; m < size(); ++m) {
    place(worlds_[slots_[m].world].members, slots_[m].garment, m);
    place(groups_[slots_[m].group].members, slots_[m].lane, m);
  }
}

template <class Real>
GarmentState BatchedWorlds<Real>::lane_state(std::size_t member) const {
  return groups_[slots_[member].group].solver->state(slots_[member].lane);
}

template <class Real>
void BatchedWorlds<Real>::bring_to_lanes(World& world) {
  if (world.copies.in_lanes) return;
  for (const std::size_t m : world.members) {
    GarmentState state = world.solver->state(slots_[m].garment);
    state.cloth_contacts.clear();  // the world keeps them
    groups_[slots_[m].group].solver->set_state(slots_[m].lane, state);
  }
  world.copies.in_lanes = true;
}

template <class Real>
void BatchedWorlds<Real>::bring_to_world(World& world) {
  if (world.copies.in_world) return;
  for (const std::size_t m : world.members) world.solver->set_motion(slots_[m].garment, lane_state(m));
  world.copies.in_world = true;
}

template <class Real>
void BatchedWorlds<Real>::start(const std::vector<Clock>& clocks, double h, int, bool undoable) {
  clocks_ = clocks;
  step_ = h;
  undoable_ = undoable;
  frozen_before_ = frozen_;
  for (Group& group : groups_) group.is_started = false;
  for (World& world : worlds_) world.is_started = false;
  for (World& world : worlds_) {
    world.is_quiet = world.solver->cloth()->kept().keys.empty() &&
                     std::ranges::none_of(world.members, [&](std::size_t m) { return frozen_[m] != 0; });
    if (world.is_quiet) bring_to_lanes(world);
    world.copies_before = world.copies;
  }
  for (Group& group : groups_) {
    std::vector<Clock> own;
    std::vector<char> are_stepped;
    for (const std::size_t m : group.members) {
      own.push_back(clocks[m]);
      are_stepped.push_back(worlds_[slots_[m].world].is_quiet ? 1 : 0);
    }
    group.is_started = std::ranges::find(are_stepped, 1) != are_stepped.end();
    if (!group.is_started) continue;
    group.solver->set_alive(are_stepped);
    group.solver->start(own, h, 1, true);
  }
}

template <class Real>
std::size_t BatchedWorlds<Real>::threads() const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.solver->threads();
  for (const World& world : worlds_) sum += world.solver->threads();
  return sum;
}

template <class Real>
bool BatchedWorlds<Real>::holds(World& world, const std::vector<AdvanceReport>& reports) const {
  std::vector<Vec3d> from, to;
  for (const std::size_t m : world.members) {
    const StepReport& report = reports[m].total;
    // Of a step in parts nobody knows the ways.
    if (report.status != StepStatus::converged || report.substeps != 1) return false;
    const ClothGroup<Real>& group = *groups_[slots_[m].group].solver;
    const auto add = [](const std::vector<double>& positions, std::vector<Vec3d>& all) {
      const std::vector<Vec3d> own = as_vectors(positions);
      all.insert(all.end(), own.begin(), own.end());
    };
    add(group.positions_before(slots_[m].lane), from);
    add(group.positions(slots_[m].lane), to);
  }
  return !world.solver->cloth()->has_contact(std::move(from), std::move(to));
}

template <class Real>
void BatchedWorlds<Real>::step(World& world, std::vector<AdvanceReport>& reports) {
  if (!world.is_quiet)
    bring_to_world(world);
  else if (!world.copies_before.in_world)
    for (const std::size_t m : world.members)
      world.solver->set_motion(slots_[m].garment,
                               groups_[slots_[m].group].solver->state_before(slots_[m].lane));
  std::vector<Clock> clocks;
  for (const std::size_t m : world.members) clocks.push_back(clocks_[m]);
  world.copies = {.in_lanes = false, .in_world = true};
  world.is_started = true;
  world.solver->start(clocks, step_, 1, undoable_);
  const std::vector<AdvanceReport> found = world.solver->finish();
  for (std::size_t g = 0; g < found.size(); ++g) {
    const std::size_t m = world.members[g];
    const double seconds = reports[m].total.wall_seconds;
    reports[m] = found[g];
    reports[m].total.wall_seconds += seconds;
    if (has_failed(found[g].total.status)) frozen_[m] = 1;
  }
}

template <class Real>
std::vector<AdvanceReport> BatchedWorlds<Real>::finish() {
  std::vector<AdvanceReport> reports(size());
  for (Group& group : groups_) {
    if (!group.is_started) continue;
    const std::vector<AdvanceReport> found = group.solver->finish();
    for (std::size_t lane = 0; lane < found.size(); ++lane) reports[group.members[lane]] = found[lane];
  }
  std::vector<std::size_t> widths;
  for (const World& world : worlds_) widths.push_back(world.solver->threads());
  side_by_side(device_.queue().pool, widths, [&](std::size_t w) {
    World& world = worlds_[w];
    if (world.is_quiet && holds(world, reports))
      world.copies = {.in_lanes = true, .in_world = false};
    else
      step(world, reports);
  });
  return reports;
}

template <class Real>
void BatchedWorlds<Real>::undo() {
  for (Group& group : groups_)
    if (group.is_started) group.solver->undo();
  for (World& world : worlds_) {
    if (world.is_started) world.solver->undo();
    world.copies = world.copies_before;
  }
  frozen_ = frozen_before_;
}

template <class Real>
template <class Each>
auto BatchedWorlds<Real>::of_members(const Each& each) {
  using Value = typename decltype(each(std::declval<GarmentSolver&>()))::value_type;
  std::vector<Value> all(size());
  for (World& world : worlds_) {
    if (world.copies.in_lanes) continue;
    const std::vector<Value> found = each(*world.solver);
    for (std::size_t g = 0; g < found.size(); ++g) all[world.members[g]] = found[g];
  }
  for (Group& group : groups_) {
    const auto is_here = [&](std::size_t m) { return worlds_[slots_[m].world].copies.in_lanes; };
    if (std::ranges::none_of(group.members, is_here)) continue;
    const std::vector<Value> found = each(*group.solver);
    for (std::size_t lane = 0; lane < found.size(); ++lane)
      if (is_here(group.members[lane])) all[group.members[lane]] = found[lane];
  }
  return all;
}

template <class Real>
std::vector<Measures> BatchedWorlds<Real>::measure(std::size_t first, std::size_t count) {
  if (count == 1) {
    const Slot& at = slots_[first];
    return worlds_[at.world].copies.in_lanes ? groups_[at.group].solver->measure(at.lane, 1)
                                             : worlds_[at.world].solver->measure(at.garment, 1);
  }
  const std::vector<Measures> all =
      of_members([](GarmentSolver& solver) { return solver.measure(0, solver.size()); });
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

template <class Real>
std::vector<Strain> BatchedWorlds<Real>::strains() {
  return of_members([](GarmentSolver& solver) { return solver.strains(); });
}

template <class Real>
void BatchedWorlds<Real>::keep_parts(bool are_kept) {
  for (World& world : worlds_) world.solver->keep_parts(are_kept);
}

template <class Real>
std::vector<SubstepRecord> BatchedWorlds<Real>::take_parts(std::size_t member) {
  World& world = worlds_[slots_[member].world];
  return world.is_started ? world.solver->take_parts(slots_[member].garment) : std::vector<SubstepRecord>();
}

template <class Real>
Inspection BatchedWorlds<Real>::inspect(std::size_t member, double t, double h) {
  World& world = worlds_[slots_[member].world];
  bring_to_world(world);
  return world.solver->inspect(slots_[member].garment, t, h);
}

template <class Real>
void BatchedWorlds<Real>::refresh() {
  for (World& world : worlds_) world.solver->refresh();
  for (Group& group : groups_) group.solver->refresh();
}

template <class Real>
void BatchedWorlds<Real>::refresh_members(const std::vector<std::size_t>& members) {
  for (const std::size_t m : members) {
    worlds_[slots_[m].world].solver->refresh_members({slots_[m].garment});
    groups_[slots_[m].group].solver->refresh_members({slots_[m].lane});
  }
}

template <class Real>
void BatchedWorlds<Real>::refresh_motions() {
  for (Group& group : groups_) group.solver->refresh_motions();
}

template <class Real>
void BatchedWorlds<Real>::wake() {
  for (World& world : worlds_) world.solver->wake();
}

template <class Real>
void BatchedWorlds<Real>::forget_step_before(const std::vector<std::size_t>& members) {
  for (const std::size_t member : members) {
    bring_to_lanes(worlds_[slots_[member].world]);
    worlds_[slots_[member].world].copies.in_world = false;
    groups_[slots_[member].group].solver->forget_step_before({slots_[member].lane});
  }
}

template <class Real>
GarmentInfo BatchedWorlds<Real>::info(std::size_t member) const {
  const Slot& at = slots_[member];
  GarmentInfo info = worlds_[at.world].solver->info(at.garment);
  const GarmentInfo lanes = groups_[at.group].solver->info(at.lane);
  info.memory_bytes += lanes.memory_bytes;
  info.solver += "; while nothing touches " + lanes.solver;
  return info;
}

template <class Real>
std::vector<FieldView> BatchedWorlds<Real>::views(GarmentField field) {
  for (World& world : worlds_) {
    bring_to_lanes(world);
    world.copies.in_world = false;  // whoever has a view may write there
  }
  std::vector<FieldView> all;
  for (Group& group : groups_)
    for (FieldView& view : group.solver->views(field)) {
      for (std::size_t& garment : view.garments) garment = group.members[garment];
      all.push_back(std::move(view));
    }
  return all;
}

template <class Real>
GarmentState BatchedWorlds<Real>::state(std::size_t member) const {
  const Slot& at = slots_[member];
  const World& world = worlds_[at.world];
  if (world.copies.in_world) return world.solver->state(at.garment);
  GarmentState state = lane_state(member);
  state.cloth_contacts = world.solver->cloth()->kept(at.garment);
  return state;
}

template <class Real>
void BatchedWorlds<Real>::check(std::size_t member, const GarmentState& state) const {
  const Slot& slot = slots_[member];
  worlds_[slot.world].solver->check(slot.garment, state);
}

template <class Real>
void BatchedWorlds<Real>::set_state(std::size_t member, const GarmentState& state) {
  World& world = worlds_[slots_[member].world];
  bring_to_world(world);
  world.solver->set_state(slots_[member].garment, state);
  world.copies.in_lanes = false;
  frozen_[member] = state.frozen ? 1 : 0;
}

template <class Real>
std::vector<ClothLoads> BatchedWorlds<Real>::cloth_loads() const {
  std::vector<ClothLoads> all(size());
  for (const World& world : worlds_) {
    std::vector<Vec3d> positions;
    for (const std::size_t m : world.members) {
      const std::vector<Vec3d> own = as_vectors(state(m).positions);
      positions.insert(positions.end(), own.begin(), own.end());
    }
    const std::vector<ClothLoads> found = world.solver->cloth()->loads(positions);
    for (std::size_t g = 0; g < found.size(); ++g) all[world.members[g]] = found[g];
  }
  return all;
}

template class BatchedWorlds<float>;
template class BatchedWorlds<double>;

}  // namespace isocloth
