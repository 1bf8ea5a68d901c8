// What a running scene is made of.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/model/resolved_scene.hpp"
#include "engine/model/scene_intersections.hpp"
#include "engine/model/separation.hpp"
#include "host/garment/contact_samples.hpp"
#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/simulation/air_flow.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/advance_report.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/step_record.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

struct HostShapes;

/// Throws ShapeError unless index < count; what: "garment".
inline void check_index(std::size_t index, std::size_t count, const char* what = "garment") {
  if (index >= count)
    throw ShapeError(std::string(what) + ": found index " + std::to_string(index) + ", expected less than " +
                     std::to_string(count));
}

/// Throws ShapeError unless every index of the list is < count and occurs once; what: "garment".
inline void check_indices(const std::vector<std::size_t>& indices, std::size_t count,
                          const char* what = "garment") {
  std::vector<std::size_t> places(count, indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_index(indices[i], count, what);
    if (std::size_t& place = places[indices[i]]; place < indices.size())
      throw ShapeError(std::string(what) + "s[" + std::to_string(i) + "]: found " +
                       std::to_string(indices[i]) + ", which is " + what + "s[" + std::to_string(place) +
                       "] already, expected each once");
    else
      place = i;
  }
}

/// Adds loads, shape [garments], to the forces of a scene's garments for its lifetime.
class ScopedLoads {
 public:
  ScopedLoads(Scene& scene, std::vector<NodeLoad> loads);
  ~ScopedLoads() { exchange(); }
  ScopedLoads(const ScopedLoads&) = delete;
  ScopedLoads& operator=(const ScopedLoads&) = delete;

 private:
  void exchange();

  Scene& scene_;
  std::vector<NodeLoad> kept_;
  std::vector<std::size_t> loaded_;  ///< numbers of the garments whose loads were exchanged
};

struct Simulation::Members {
  /// Garments whose meshes have the same faces.
  struct ForceGroup {
    std::vector<std::size_t> garments;
    std::vector<double> areas;  ///< areas of the nodes, garment by garment [m^2]
  };
  /// A force of Simulation::add_force().
  struct NodeForce {
    std::string name;
    ForceFunction function;
    std::vector<ForceGroup> groups;
  };

  Scene scene;
  ResolvedScene resolved;
  ExecutionOptions options;
  Device device;
  GarmentSolvers solvers;
  Separation separation;
  /// What was found with contact.cloth before the first step.
  std::optional<IntersectionReport> found_at_start;
  std::vector<GarmentState> start;    ///< states that garments start in, one for replicas in a row
  std::vector<std::size_t> start_of;  ///< which of them, shape [garment]
  std::vector<BodyState> start_bodies;
  std::vector<char> frozen;
  std::vector<std::int64_t> clocks;  ///< steps of each garment since its last reset
  /// Sheets of garments in potential flow; null: other garments.
  std::vector<std::unique_ptr<AirFlow>> sheets;
  std::vector<AirState> air;      ///< flow around every garment, shape [garment]
  std::vector<NodeForce> forces;  ///< forces of the program in the order in which they are asked
  bool is_asking = false;         ///< whether forces are being asked
  /// Whether steps are kept, and whether take_step_records() has a step to give.
  bool keeps_steps = false, has_kept = false;
  /// Loads that forces said for each garment in the last step, where steps are kept, shape [garment]; empty:
  /// nobody was asked.
  std::vector<NodeLoad> asked;
  std::vector<Steering> steering;  ///< shape [garment]
  /// What a scene says of the fasteners of a garment.
  struct SaidFasteners {
    std::vector<DrivenNumber> zippers, drawstrings;
    std::vector<ForceSlope> slopes;  ///< of soft pins that let go; empty: none does
    explicit SaidFasteners(const Garment& garment);
  };
  std::vector<SaidFasteners> said_fasteners;  ///< shape [garment]
  std::vector<FastenerState> fasteners;       ///< shape [garment]
  /// Members of the scene that its keyframes are of, shape [keyframes][their garments, or 1].
  std::vector<std::vector<double*>> keyed_numbers;
  /// Where a garment may be pushed, and areas of its nodes.
  struct ContactPlaces {
    ContactSamples samples;
    std::vector<double> areas;
    ContactPlaces(ContactSamples s, std::vector<double> a) : samples(std::move(s)), areas(std::move(a)) {}
  };
  // Of obstacles and bodies, and of garments, shape [garment], once they were asked for.
  mutable std::shared_ptr<const HostShapes> shapes;
  mutable std::vector<std::shared_ptr<const ContactPlaces>> known_places;
  std::int64_t step_index = 0;
  std::uint64_t digest = 0;  ///< digest of what states belong to, see Snapshot::scene

  Members(Scene s, ExecutionOptions o)
      : scene(std::move(s)), resolved(scene), options(std::move(o)), device(options) {}
  /// By how much a garment's clock is ahead of that of the simulation [s].
  double lead(std::size_t garment) const {
    return scene.garments[garment].time_offset +
           static_cast<double>(clocks[garment] - step_index) * scene.step;
  }
  /// Has what was steered go on by the clock of the simulation where garments' clocks were set.
  void follow_clocks();
  void follow_clock(std::size_t garment);
  /// Gives an obstacle another motion, for garments of a world or of all; returns whether it sets out or
  /// comes to rest.
  bool steer(std::size_t obstacle, Index world, ObstacleMotion motion);
  /// Poses of the shapes of obstacles, as garments of a world see them, and of bodies.
  std::vector<Pose> shape_poses(Index world, const Moment& moment) const;
  const ContactPlaces& contact_places(std::size_t garment) const;
  /// Calls use(solver, member) of a garment.
  template <class Use>
  decltype(auto) at(std::size_t garment, const Use& use) const {
    check_index(garment, solvers.members.size());
    const GarmentSolvers::Member member = solvers.members[garment];
    return use(*solvers.solvers[member.solver], member.member);
  }
  /// Throws ShapeError unless put() can take it.
  void check(std::size_t garment, const GarmentState& state) const;
  void put(std::size_t garment, const GarmentState& state) { put({garment}, {&state, 1}); }
  /// put() of several garments, which is one copy of each array for those that step together.
  void put(const std::vector<std::size_t>& garments, ArrayView<const GarmentState> states);
  void put(const std::vector<std::size_t>& garments, const std::vector<const GarmentState*>& states);
  /// Keeps where all garments are as their start.
  void keep_start(const Simulation& simulation);
  void put_start(const std::vector<std::size_t>& garments);
  std::vector<std::size_t> all_garments() const {
    std::vector<std::size_t> garments(scene.garments.size());
    std::iota(garments.begin(), garments.end(), 0);
    return garments;
  }
  /// States of all garments, as Simulation::state() has them.
  std::vector<GarmentState> states() const;
  /// Throws ShapeError unless the states are ones of the scene's bodies.
  void check(const std::vector<BodyState>& states) const;
  /// Makes the sheets of the scene's garments, in wind that flows around panels.
  void make_sheets();
  /// Takes steps of the solvers, as Simulation::advance(), with the forces that the scene has.
  std::vector<AdvanceReport> advance_solvers(int steps);
  /// Opens and closes zippers, and draws strings, as they are when the next step ends; lets go what pulls
  /// harder at soft pins than they hold.
  void drive_fasteners();
  /// Has the fasteners of a garment in this state.
  void put(std::size_t garment, const FastenerState& state);
  /// solver.refresh_members() of garments, once for those that step together.
  void refresh(const std::vector<std::size_t>& garments);
  bool has_driven_fasteners() const {
    return std::ranges::any_of(scene.garments, [](const Garment& garment) {
      return !garment.zippers.empty() || !garment.drawstrings.empty() || lets_go(garment);
    });
  }
  /// Whether a number of the scene has keyframes to come.
  bool has_changing_numbers() const;
  /// Whether a garment has soft pins that let go.
  static bool lets_go(const Garment& garment) {
    return std::ranges::any_of(garment.force_slopes, [](const ForceSlope& s) { return s.strength > 0; });
  }
  /// Whether functions of the program or the air are asked before each step.
  bool is_asked_for_loads() const { return scene.wind.model == WindModel::panels || !forces.empty(); }
  /// Whether something is to be done before each step.
  bool is_busy() const { return is_asked_for_loads() || has_driven_fasteners() || has_changing_numbers(); }
  /// Takes one step with the loads of forces and of the air.
  std::vector<StepReport> step_with_loads();
  /// Adds what forces say of where the garments are. Throws what they throw, ForceError.
  void evaluate_user_forces(std::vector<NodeLoad>& loads);
  void ask(const NodeForce& force, const ForceGroup& group, std::vector<NodeLoad>& loads) const;
  /// Throws ShapeError while forces are asked.
  void require_idle(const char* call) const;
  /// Finds the flow after a step, and adds its loads; freezes garments where there is none.
  std::vector<AirState> find_flow(std::vector<NodeLoad>& loads);
  /// Views of a field of all solvers, with the numbers of the garments in the scene.
  std::vector<FieldView> views(GarmentField field) const;
  /// Copies a field between the nodes of garments and arrays, shape [garments.size()][node_count]; Vector
  /// const: to the nodes.
  template <class Vector>
  void transfer_nodes(GarmentField field, const std::vector<std::size_t>& garments,
                      const std::vector<Vector*>& nodes) const;
  /// Returns what each(solver) says of its members, garment by garment.
  template <class Each>
  auto of_all(const Each& each) const {
    std::vector<decltype(each(*solvers.solvers.front()))> found;
    for (const auto& solver : solvers.solvers) found.push_back(each(*solver));
    typename decltype(found)::value_type all;
    for (const GarmentSolvers::Member& member : solvers.members)
      all.push_back(std::move(found[member.solver][member.member]));
    return all;
  }
};

}  // namespace isocloth
