// What a restart needs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/fields.hpp"
#include "engine/model/rigid_body.hpp"

namespace isocloth {

enum class ContactMode : int;  ///< see kernels/contact/contact_arrays.hpp

/// What is kept of a contact from step to step.
struct ContactState {
  /// Number of the obstacle that is touched, bodies counted after the obstacles; -1: none.
  Index obstacle = -1;
  ContactMode mode{};
  Vec3d force;      ///< force of the obstacle on the garment times h^2 [kg m]
  double slip = 0;  ///< slip since the contact last stuck, in the steps of the projection [m]
  Vec2d uv;         ///< uv (u, v) of the contact in its edge or face; impulses find it anew: 0
  static constexpr auto fields() {
    return std::tuple{Field{"obstacle", &ContactState::obstacle}, Field{"mode", &ContactState::mode},
                      Field{"force", &ContactState::force}, Field{"slip", &ContactState::slip},
                      Field{"place", &ContactState::uv}};
  }
  bool operator==(const ContactState&) const = default;
};

/// What is kept of a sample that started inside of an obstacle (kernels/contact/easing.hpp).
struct EasedState {
  /// Number of the obstacle, as ContactState::obstacle; -1: none, or out of it by now.
  Index obstacle = -1;
  /// Depth at the start, or as deep as it would have been to be where it is now [m].
  double depth = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"obstacle", &EasedState::obstacle}, Field{"depth", &EasedState::depth}};
  }
  bool operator==(const EasedState&) const = default;
};

/// What is kept of a node that grippers may hold.
struct HoldState {
  Index gripper = -1;    ///< number among the grippers of the garment; -1: none
  Vec3d local_position;  ///< local_position of the node in the gripper's frame [m]
  Vec3d force;           ///< force of the gripper on the garment times h^2 [kg m]
  static constexpr auto fields() {
    return std::tuple{Field{"gripper", &HoldState::gripper}, Field{"place", &HoldState::local_position},
                      Field{"force", &HoldState::force}};
  }
  bool operator==(const HoldState&) const = default;
};

/// What is kept of a contact between cloths.
struct ClothContactState {
  std::int64_t key = 0;  ///< what touches what, see FoundContact
  Vec3d force;           ///< force of the second on the first times h^2 [kg m]
  static constexpr auto fields() {
    return std::tuple{Field{"key", &ClothContactState::key}, Field{"force", &ClothContactState::force}};
  }
  bool operator==(const ClothContactState&) const = default;
};

/// What is kept of the potential flow around a sheet (WindModel::panels); all empty: air at rest.
struct AirState {
  std::vector<double> circulations;  ///< circulations of the panels [m^2/s], shape [panel_count]
  /// Points of the lines of the wake [m], shape [rows, columns + 1, 3].
  std::vector<double> wake_points;
  /// Circulations of the rows of the wake, the youngest first [m^2/s], shape [rows, columns].
  std::vector<double> wake_circulations;
  /// Pressures behind the panels over those in front of them [Pa], shape [panel_count].
  std::vector<double> pressures;
  std::vector<double> loads;       ///< forces of air on the nodes in the last step [N], shape [node_count, 3]
  std::vector<double> velocities;  ///< velocities of the nodes before that step [m/s], shape [node_count, 3]
  static constexpr auto fields() {
    return std::tuple{Field{"circulations", &AirState::circulations},
                      Field{"wake_points", &AirState::wake_points},
                      Field{"wake_circulations", &AirState::wake_circulations},
                      Field{"pressures", &AirState::pressures},
                      Field{"loads", &AirState::loads},
                      Field{"velocities", &AirState::velocities}};
  }
  bool operator==(const AirState&) const = default;
};

/// What a program said of a zipper or drawstring in the place of its motion.
struct ToldShare {
  Index number = 0;  ///< among those of the garment
  double share = 0;  ///< up to which it is closed, or to which it is drawn
  static constexpr auto fields() {
    return std::tuple{Field{"number", &ToldShare::number}, Field{"share", &ToldShare::share}};
  }
  bool operator==(const ToldShare&) const = default;
};

/// What has become of the fasteners of a garment; all empty: they are as the scene has them.
struct FastenerState {
  std::vector<ToldShare> zippers, drawstrings;  ///< ascending
  std::vector<Index> released;                  ///< nodes that soft pins have let go, ascending
  static constexpr auto fields() {
    using State = FastenerState;
    return std::tuple{Field{"zippers", &State::zippers}, Field{"drawstrings", &State::drawstrings},
                      Field{"released", &State::released}};
  }
  bool operator==(const FastenerState&) const = default;
};

/// Everything that a restart needs, bit for bit. Copies, checkpoints and checks go through fields().
struct GarmentState {
  std::vector<double> positions;   ///< positions of the nodes [m], shape [node_count, 3]
  std::vector<double> velocities;  ///< velocities of the nodes [m/s], shape [node_count, 3]
  std::vector<double>
      multipliers;  ///< scaled rows' multipliers of the last step, shape [row_count]; impulses: none
  std::vector<ContactState> contacts;  ///< contacts of the last step; a scene without obstacles has none
  /// Samples that started inside of obstacles, one for each contact; a scene without
  /// contact.resolve_initial_penetration, or at once (contact.initial_penetration_time), has none.
  std::vector<EasedState> eased;
  std::vector<HoldState> holds;  ///< holds of every node; a garment without grippers has none
  /// Positions [m] and velocities [m/s] a step ago, shape [node_count, 3], where the integrator remembers
  /// them (Integrator::bdf2); empty: there was none.
  std::vector<double> previous_positions, previous_velocities;
  double previous_step = 0;     ///< duration of the step before [s]; 0: there was none
  std::int64_t step_index = 0;  ///< steps of this garment since its start or last reset: its clock
  bool frozen = false;          ///< a step was lost: the garment keeps the state before it
  bool diverged = false;        ///< frozen: its step diverged, else it was not finite
  /// Contacts between cloths by their keys, each with the first of its two garments; where cloth meets no
  /// cloth: none.
  std::vector<ClothContactState> cloth_contacts;
  /// Plastic strains: e_p, where springs yield, of structural, shear and bend springs with a free end, each
  /// kind in the order of its pairs (engine/mesh/spring_pairs.hpp); x_i, where rows remember, of the elements
  /// of every row (engine/material/memory.hpp), shape [row_count, memory_elements]; else none.
  std::vector<double> plastic_strains;
  AirState air;
  FastenerState fasteners;
  double rest_time = 0;  ///< for how long it has been at rest [s], where it may sleep (SleepSettings)
  static constexpr auto fields() {
    using State = GarmentState;
    return std::tuple{Field{"positions", &State::positions},
                      Field{"velocities", &State::velocities},
                      Field{"multipliers", &State::multipliers},
                      Field{"contacts", &State::contacts},
                      Field{"eased", &State::eased},
                      Field{"holds", &State::holds},
                      Field{"previous_positions", &State::previous_positions},
                      Field{"previous_velocities", &State::previous_velocities},
                      Field{"previous_step", &State::previous_step},
                      Field{"step_index", &State::step_index},
                      Field{"frozen", &State::frozen},
                      Field{"diverged", &State::diverged},
                      Field{"cloth_contacts", &State::cloth_contacts},
                      Field{"plastic_strains", &State::plastic_strains},
                      Field{"air", &State::air},
                      Field{"fasteners", &State::fasteners},
                      Field{"rest_time", &State::rest_time}};
  }
  bool operator==(const GarmentState&) const = default;
};

/// Where a simulation was: states and clocks of garments, bodies. What it was told is not part of it.
struct Snapshot {
  std::vector<GarmentState> garments;
  std::vector<BodyState> bodies;
  std::int64_t step_index = 0;
  /// Digest of what states belong to: recipe, rest shapes, names of obstacles and bodies; 0: not known, and
  /// not asked for.
  std::uint64_t scene = 0;
};

}  // namespace isocloth
