// Worlds of small garments that meet nothing but each other, stepped in lanes while nothing touches.
#pragma once

#include <memory>
#include <vector>

#include "host/projection/cloth_group.hpp"
#include "host/projection/coupled_solver.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

/// A world that keeps no contact between cloths takes its step in the lanes of groups, beside those of other
/// worlds, as if cloth met none. Where pairs then stay apart on the way, out of reach of contacts, that is
/// the step; else it is taken again from where it began, kernel by kernel with contacts, as are those of
/// worlds that keep some. Which of the two it is depends on the world's own state alone, and so no bit of it
/// on other worlds.
template <class Real>
class BatchedWorlds final : public GarmentSolver {
 public:
  /// Where a member is: a garment of a world, and of a group.
  struct Slot {
    std::size_t world = 0, garment = 0, group = 0, lane = 0;
  };

  /// Joins worlds and groups. slots: of members, in any order; the garments of each world and group are all
  /// among them.
  BatchedWorlds(const Device& device, std::vector<std::unique_ptr<CoupledSolver<Real>>> worlds,
                std::vector<std::unique_ptr<ClothGroup<Real>>> groups, std::vector<Slot> slots);

  std::size_t size() const override { return slots_.size(); }
  /// One step a request: what touches is found between steps, on the host.
  int most_steps() const override { return 1; }
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::size_t threads() const override;
  std::vector<AdvanceReport> finish() override;
  void undo() override;
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<Strain> strains() override;
  void keep_parts(bool are_kept) override;
  std::vector<SubstepRecord> take_parts(std::size_t member) override;
  Inspection inspect(std::size_t member, double t, double h) override;
  void refresh() override;
  void refresh_cloth_friction() override {
    for (World& world : worlds_) world.solver->refresh_cloth_friction();
  }
  void refresh_members(const std::vector<std::size_t>& members) override;
  void refresh_motions() override;
  void wake() override;
  void forget_step_before(const std::vector<std::size_t>& members) override;
  GarmentInfo info(std::size_t member) const override;
  std::vector<FieldView> views(GarmentField field) override;
  GarmentState state(std::size_t member) const override;
  void check(std::size_t member, const GarmentState& state) const override;
  void set_state(std::size_t member, const GarmentState& state) override;
  std::vector<ClothLoads> cloth_loads() const override;

 private:
  /// Which of the two copies of a world's state are up to date.
  struct Copies {
    bool in_lanes = false, in_world = false;
  };
  struct World {
    std::unique_ptr<CoupledSolver<Real>> solver;
    std::vector<std::size_t> members;  ///< members by their numbers in the world
    Copies copies{.in_lanes = true, .in_world = true}, copies_before;
    bool is_quiet = false;    ///< this step began in lanes
    bool is_started = false;  ///< this step was taken, or taken again, kernel by kernel
  };
  struct Group {
    std::unique_ptr<ClothGroup<Real>> solver;
    std::vector<std::size_t> members;  ///< members by their lanes
    bool is_started = false;
  };

  GarmentState lane_state(std::size_t member) const;
  void bring_to_lanes(World& world);
  void bring_to_world(World& world);
  /// Whether the steps that a world's garments took in lanes, `reports`, are those that contacts would not
  /// change.
  bool holds(World& world, const std::vector<AdvanceReport>& reports) const;
  /// Takes the step kernel by kernel, from where the world is or, of a quiet one, was.
  void step(World& world, std::vector<AdvanceReport>& reports);
  /// Returns what each(solver) says of every member: of groups where their lanes are up to date, else of
  /// worlds.
  template <class Each>
  auto of_members(const Each& each);

  const Device& device_;
  std::vector<World> worlds_;
  std::vector<Group> groups_;
  const std::vector<Slot> slots_;
  /// Which members are frozen, now and when the request began; shape [size()].
  std::vector<char> frozen_, frozen_before_;
  std::vector<Clock> clocks_;  ///< clocks of the members in the request, shape [size()]
  double step_ = 0;            ///< h of the request [s]
  bool undoable_ = false;
};

}  // namespace isocloth
