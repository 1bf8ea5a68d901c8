// Grippers, the air and given forces on cloths that impulses hold: the formulas, whoever calls them.
//
// Held rigidly, a node moves as its gripper's frame does; rows and contacts count its mass as infinite. Held
// softly, a spring k joins it to its place, implicit: the node answers forces and impulses alike as with the
// mass m (1 + h^2 k / (rho + h alpha)), h of a part. What a gripper exerts is what the momentum of the node
// lacks: m u - (m u of the node if nothing held it). Drag is that of the velocity at the end of the part, on
// faces as they lie when it begins; impulses of rows do not ask for it anew. Quadratic drag is linear about
// the velocity at the beginning of the part.
#pragma once

#include "kernels/grippers/next_holder.hpp"
#include "kernels/impulse/impulse_terms.hpp"
#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ImpulseExternalTerms {
  using S = PairLanes<Real>;
  static constexpr Index width = Lanes<S>::width;

 public:
  ISOCLOTH_DEVICE ImpulseExternalTerms(const ImpulseCloths<Real>& args, Index cloth, Index step,
                                       const ImpulseWork<Real>& work)
      : a_(args),
        p_(args.pattern),
        holds_(args.holds),
        work_(work),
        terms_(args, cloth, work),
        parameters_(args.parameters[cloth]),
        cloth_(static_cast<std::size_t>(cloth)),
        loose_masses_(args.loose_masses(cloth)),
        h_(static_cast<Real>(args.parameters[cloth].part)),
        inertia_(multiply_add(h_, parameters_.drag, Real(1))),
        forces_(args.forces.of(cloth_, step)) {
    if (holds_.exist()) grippers_ = holds_.grippers.of(cloth_, step);
  }

  // At the beginning of a step.

  /// Lets go and takes hold of a node.
  ISOCLOTH_DEVICE void operator()(phases::Grasp, Index node) const {
    if (node == p_.node_count) {
      holds_.loads[load_at(node)] = {};  // the spare one
      return;
    }
    const Real loose = loose_masses_[node];
    Index& holder = holds_.holders[at(node)];
    Vec3<double> local_position{};
    const Index before = holder;
    holder = next_holder(grippers_, before, terms_.position(node), loose > Real(0), local_position);
    if (holder != before && holder >= 0) holds_.local_positions[at(node)] = local_position;
    holds_.forces[at(node)] = {};
    Real& inverse_mass = holds_.inverse_masses[at(node)];
    inverse_mass = loose;
    if (holder < 0) return;
    const Real spring = spring_of(holder);
    inverse_mass = spring > Real(0) ? loose * inertia_ / (inertia_ + spring) : Real(0);
  }
  template <Items Rows>
  ISOCLOTH_DEVICE void operator()(phases::WeighRows<Rows>, Index packet) const {
    if constexpr (Rows == Items::edges)
      weigh_edges(packet);
    else if constexpr (Rows == Items::metric_stencils)
      weigh_stencils(p_.metric_stencils, holds_.metric_stencils, packet);
    else
      weigh_stencils(p_.scalar_stencils, holds_.scalar_stencils, packet);
  }

  // In a part.

  /// In place of phases::Preview: what is held moves with its gripper. With w = 1 / m, D the drag, F the
  /// load: (1 + h alpha / rho + h w D / rho) u = h v + h^2 (w (f + F) / rho + g) + h w D / rho (h u_wind) =
  /// r; a load with slopes adds h w (h K + D') / rho to D's and is F - K (x - place) + D' velocity at u = 0.
  ISOCLOTH_DEVICE void operator()(const phases::PreviewExternal& at_part, Index node) const {
    const Real loose = loose_masses_[node];
    if (holds_.exist()) holds_.loads[load_at(node)] = {};
    if (!(loose > Real(0))) return;
    const Index holder = holds_.exist() ? holds_.holders[at(node)] : -1;
    if (holder < 0 && !forces_.exists()) return terms_(phases::Preview{}, node);
    Vec4<Real>& move = work_.moves[node];
    Vec4<Real> f{};
    if (work_.forces != nullptr) f = work_.forces[node];
    const Real square = h_ * h_, of_force = square * loose;
    Vec3<Real> r{multiply_add(of_force, f.x, move.x), multiply_add(of_force, f.y, move.y),
                 multiply_add(of_force, f.z, move.z) - square * parameters_.gravity};
    if (forces_.load.exists()) r += (of_force * parameters_.inverse_density) * forces_.load.forces[node];
    Real drag[6] = {};
    if (forces_.drag.exists()) {
      const auto position = [this](Index i) {
        const Vec4<Real> x = work_.relative_positions[i];
        return Vec3<Real>{x.x, x.y, x.z};
      };
      drag_of_node(a_.faces, forces_.drag, node, position, drag);
      const Real of_drag = h_ * loose * parameters_.inverse_density;
      for (Real& entry : drag) entry *= of_drag;
      r += multiplied(drag, h_ * forces_.drag.wind);
      if (forces_.drag.is_quadratic()) {
        const Vec3<Real> moved{move.x, move.y, move.z};
        Real slope[6] = {};
        const Vec3<Real> force = quadratic_drag_of_node(a_.faces, forces_.drag, node, position,
                                                        forces_.drag.wind - (Real(1) / h_) * moved, slope);
        for (int i = 0; i < 6; ++i) drag[i] += of_drag * slope[i];
        r += of_drag * (h_ * force + multiplied(slope, moved));
      }
    }
    if (!forces_.load.slopes.empty()) {
      const LoadSlope<Real>& slope = forces_.load.slopes[node];
      const Real of_load = of_force * parameters_.inverse_density;
      r += of_load * (multiplied(slope.damping, slope.velocity) -
                      multiplied(slope.stiffness, way_of(slope, terms_.position(node))));
      for (int i = 0; i < 6; ++i)
        drag[i] += of_load * slope.stiffness[i] + h_ * loose * parameters_.inverse_density * slope.damping[i];
    }
    Vec3<Real> u;
    if (holder < 0) {
      u = solve(drag, inertia_, r);
    } else {
      const double done = static_cast<double>(at_part.part + 1) / parameters_.parts;
      const Vec3<double> left =
          held_position(grippers_, holder, holds_.local_positions[at(node)], done) - terms_.position(node);
      u = {static_cast<Real>(left.x), static_cast<Real>(left.y), static_cast<Real>(left.z)};
      const Real spring = spring_of(holder);
      if (spring > Real(0)) u = solve(drag, inertia_ + spring, r + spring * u);
      const Vec3<Real> load = (Real(1) / (loose * inertia_)) * (r - multiplied(drag, u));
      holds_.loads[load_at(node)] = {load.x, load.y, load.z, Real(0)};
    }
    move = {u.x, u.y, u.z, Real(0)};
  }
  /// Adds what the gripper exerted in a part.
  ISOCLOTH_DEVICE void operator()(phases::EndHolds, Index node) const {
    if (holds_.holders[at(node)] < 0) return;
    const Vec4<Real> u = work_.moves[node], load = holds_.loads[load_at(node)];
    const Real mass = Real(1) / loose_masses_[node];
    holds_.forces[at(node)] +=
        parameters_.contact_scale * Vec3<Real>{mass * u.x - load.x, mass * u.y - load.y, mass * u.z - load.z};
  }

 private:
  /// What a packet of edges counts of its nodes.
  ISOCLOTH_DEVICE void weigh_edges(Index packet) const {
    const PairPackets<Real>& edges = p_.edges;
    const std::size_t own = cloth_ * static_cast<std::size_t>(edges.packet_count()) + packet;
    Real* const shares = holds_.edges.masses.data() + own * 3 * width;
    Index is_held = 0;
    for (Index lane = 0; lane < width; ++lane) {
      const Index* const pair = edges.nodes.data() + (static_cast<std::size_t>(packet) * width + lane) * 2;
      const auto a = static_cast<double>(mass_of(pair[0], is_held)),
                 b = static_cast<double>(mass_of(pair[1], is_held));
      const double sum = a + b;
      shares[lane] = sum > 0 ? static_cast<Real>(a / sum) : Real(0);
      shares[width + lane] = sum > 0 ? static_cast<Real>(b / sum) : Real(0);
      shares[2 * width + lane] = sum > 0 ? static_cast<Real>(1 / sum) : Real(0);
    }
    holds_.edges.is_held[own] = is_held;
  }
  /// What a packet of stencils counts of its nodes.
  template <int Width>
  ISOCLOTH_DEVICE void weigh_stencils(const StencilPackets<Real, Width>& packets, const HeldRows<Real>& rows,
                                      Index packet) const {
    const auto slots = static_cast<std::size_t>(packets.slot_begin[packets.packet_count()]);
    Index is_held = 0;
    for (Index slot = packets.slot_begin[packet]; slot < packets.slot_begin[packet + 1]; ++slot)
      for (Index lane = 0; lane < width; ++lane) {
        const std::size_t index = static_cast<std::size_t>(slot) * width + lane;
        rows.masses[cloth_ * slots * width + index] = mass_of(packets.pairs[2 * index + 1], is_held);
      }
    rows.is_held[cloth_ * static_cast<std::size_t>(packets.packet_count()) + packet] = is_held;
  }

  ISOCLOTH_DEVICE std::size_t at(Index node) const {
    return cloth_ * static_cast<std::size_t>(p_.node_count) + node;
  }
  ISOCLOTH_DEVICE std::size_t load_at(Index node) const {
    return cloth_ * (static_cast<std::size_t>(p_.node_count) + 1) + node;
  }
  /// h^2 k / rho, 0: rigid.
  ISOCLOTH_DEVICE Real spring_of(Index gripper) const {
    return h_ * h_ * static_cast<Real>(grippers_.grippers[gripper].stiffness) * parameters_.inverse_density;
  }
  /// 1 / m of a node as the rows count it [1/m^2]; the spare one has none.
  ISOCLOTH_DEVICE Real mass_of(Index node, Index& is_held) const {
    if (node >= p_.node_count) return Real(0);
    if (holds_.holders[at(node)] >= 0) is_held = 1;
    return holds_.inverse_masses[at(node)];
  }

  /// (a I + D) u = r of a positive semidefinite D by L diag L^T.
  static ISOCLOTH_DEVICE Vec3<Real> solve(const Real (&d)[6], Real a, Vec3<Real> r) {
    const Real first = Real(1) / (a + d[0]), l10 = d[1] * first, l20 = d[2] * first;
    const Real second = Real(1) / (a + d[3] - l10 * d[1]), below = d[4] - l20 * d[1], l21 = below * second;
    const Real third = Real(1) / (a + d[5] - l20 * d[2] - l21 * below);
    const Real y = r.y - l10 * r.x, z = third * (r.z - l20 * r.x - l21 * y), u = second * y - l21 * z;
    return {first * r.x - l10 * u - l20 * z, u, z};
  }

  const ImpulseCloths<Real>& a_;
  const ImpulsePattern<Real>& p_;
  const ImpulseHolds<Real>& holds_;
  const ImpulseWork<Real> work_;
  const ImpulseTerms<Real> terms_;
  const ImpulseParameters<Real> parameters_;
  const std::size_t cloth_;
  const Real* const loose_masses_;  ///< shape [node]
  const Real h_;                    ///< duration of a part [s]
  const Real inertia_;              ///< 1 + h alpha / rho
  const NodeForces<Real> forces_;
  GrippersView<double> grippers_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
