// What a part of a step does to nodes and forces: the formulas, whoever calls them.
#pragma once

#include "kernels/impulse/impulse_phases.hpp"
#include "kernels/impulse/spring_dampers.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// What CorrectRows did to a packet.
template <class S>
struct Correction {
  S error;                            ///< where there was an impulse: the relative error before, else 0
  typename Lanes<S>::Mask corrected;  ///< where there was an impulse
};

/// Nodes of one cloth, and the forces on them, in one part of a step.
template <class Real>
class ImpulseTerms {
 public:
  static constexpr bool origin_is_zero =
      sizeof(Real) == sizeof(double);  ///< relative positions are the positions

  ISOCLOTH_DEVICE ImpulseTerms(const ImpulseCloths<Real>& args, Index cloth, const ImpulseWork<Real>& work)
      : a_(args),
        p_(args.pattern),
        work_(work),
        cloth_(cloth),
        shape_(args.shapes[cloth]),
        parameters_(args.parameters[cloth]),
        h_(static_cast<Real>(args.parameters[cloth].part)) {
    if constexpr (!origin_is_zero) origin_ = args.positions[first_node()];
  }

  /// The node past the last is the spare one.
  ISOCLOTH_DEVICE void operator()(phases::BeginNodes, Index i) const {
    Vec3<double> x{};
    Vec3<Real> v{};
    if (i < p_.node_count) {
      x = a_.positions[first_node() + i];
      v = h_ * a_.velocities[first_node() + i];
    }
    if constexpr (!origin_is_zero)
      if (i < p_.node_count) work_.positions[i] = x;
    work_.relative_positions[i] = i < p_.node_count ? relative_position(x) : Vec4<Real>{};
    work_.moves[i] = {v.x, v.y, v.z, Real(0)};
  }
  /// 1 where the way from where the step began is beyond excess_displacement(), else 0; see
  /// kernels/core/divergence.hpp.
  ISOCLOTH_DEVICE double operator()(phases::MeasureDisplacements, Index i) const {
    const Vec3<Real> v = a_.velocities[first_node() + i];
    const double step = parameters_.parts * parameters_.part;
    const double excess =
        excess_displacement(position(i) - a_.positions[first_node() + i],
                            Vec3<double>{step * v.x, step * v.y, step * v.z}, parameters_.reach);
    return excess > 0 ? 1 : 0;
  }
  ISOCLOTH_DEVICE void operator()(phases::EndNodes, Index i) const {
    a_.positions[first_node() + i] = position(i);
    const Vec4<Real> u = work_.moves[i];
    a_.velocities[first_node() + i] = (Real(1) / h_) * Vec3<Real>{u.x, u.y, u.z};
  }

  /// f_i = -kappa (K x)_i - beta (K v)_i, or zero. Rows of K sum to zero: differences keep the rounding
  /// small.
  ISOCLOTH_DEVICE void operator()(phases::Bend, Index i) const {
    Vec4<Real> f{};
    if (!p_.bending.columns.empty() && i < p_.node_count) {
      const Vec4<Real> x = work_.relative_positions[i], u = work_.moves[i];
      const Real* const k = p_.bending_values.data() + shape_ * p_.bending.columns.size();
      const Real of_move = parameters_.beta / h_;
      for (Index e = p_.bending.row_begin[i]; e < p_.bending.row_begin[i + 1]; ++e) {
        const Vec4<Real> y = work_.relative_positions[p_.bending.columns[e]],
                         w = work_.moves[p_.bending.columns[e]];
        const auto add = [&](Real& sum, Real dx, Real du) {
          sum = multiply_add(-k[e], multiply_add(parameters_.kappa, dx, of_move * du), sum);
        };
        add(f.x, y.x - x.x, w.x - u.x);
        add(f.y, y.y - x.y, w.y - u.y);
        add(f.z, y.z - x.z, w.z - u.z);
      }
    }
    work_.forces[i] = f;
  }

  ISOCLOTH_DEVICE void operator()(phases::PullStructural, Index packet) const {
    add_spring_forces(p_.structural_springs, packet, shape_, parameters_.structural_stiffness,
                      parameters_.structural_damping / h_, work_.relative_positions, work_.moves,
                      work_.forces, yield_of(a_.plastic.structural, p_.structural_springs));
  }
  ISOCLOTH_DEVICE void operator()(phases::PullShear, Index packet) const {
    add_spring_forces(p_.shear_springs, packet, shape_, parameters_.shear_stiffness,
                      parameters_.shear_damping / h_, work_.relative_positions, work_.moves, work_.forces,
                      yield_of(a_.plastic.shear, p_.shear_springs));
  }
  ISOCLOTH_DEVICE void operator()(phases::PullBend, Index packet) const {
    add_spring_forces(p_.bend_springs, packet, shape_, parameters_.bend_stiffness,
                      parameters_.bend_damping / h_, work_.relative_positions, work_.moves, work_.forces,
                      yield_of(a_.plastic.bend, p_.bend_springs));
  }
  template <Items Springs>
  ISOCLOTH_DEVICE void operator()(phases::BeginSprings<Springs>, Index packet) const {
    const PlasticStrains<Real>& strains = plastic_strains<Springs>();
    for_lanes<Springs>(packet, [&](std::size_t i) { strains.now[i] = strains.kept[i]; });
  }
  template <Items Springs>
  ISOCLOTH_DEVICE void operator()(phases::EndSprings<Springs>, Index packet) const {
    const PlasticStrains<Real>& strains = plastic_strains<Springs>();
    for_lanes<Springs>(packet, [&](std::size_t i) { strains.kept[i] = strains.now[i]; });
  }

  /// u = h v*, v* = (v + h f / m) / (1 + h alpha / rho) of a free node.
  ISOCLOTH_DEVICE void operator()(phases::Preview, Index i) const {
    const Real inverse_mass = p_.inverse_masses[shape_ * static_cast<std::size_t>(p_.node_count) + i];
    if (!(inverse_mass > Real(0))) return;
    Vec4<Real>& u = work_.moves[i];
    const Real decay = Real(1) / multiply_add(h_, parameters_.drag, Real(1)), square = h_ * h_;
    Vec4<Real> f{};
    if (work_.forces != nullptr) f = work_.forces[i];
    const auto advanced = [&](Real move, Real force, Real acceleration) {
      return decay * multiply_add(square, multiply_add(inverse_mass, force, acceleration), move);
    };
    u = {advanced(u.x, f.x, Real(0)), advanced(u.y, f.y, Real(0)), advanced(u.z, f.z, -parameters_.gravity),
         Real(0)};
  }
  /// Pinned nodes move evenly, and arrive.
  ISOCLOTH_DEVICE void operator()(const phases::PreviewPinned& at, Index pinned) const {
    const std::size_t count = p_.pinned_nodes.size();
    const double* const target =
        a_.targets.data() +
        3 * ((static_cast<std::size_t>(at.step) * a_.cloth_count + cloth_) * count + pinned);
    const Index node = p_.pinned_nodes[pinned];
    const Vec3<double> x = position(node);
    const double share = 1.0 / (parameters_.parts - at.part);
    work_.moves[node] = {static_cast<Real>(share * (target[0] - x.x)),
                         static_cast<Real>(share * (target[1] - x.y)),
                         static_cast<Real>(share * (target[2] - x.z)), Real(0)};
  }

  /// x += u.
  ISOCLOTH_DEVICE void operator()(phases::Advance, Index i) const {
    const Vec4<Real> u = work_.moves[i];
    if constexpr (origin_is_zero) {
      Vec4<Real>& x = work_.relative_positions[i];
      x = {x.x + u.x, x.y + u.y, x.z + u.z, Real(0)};
    } else {
      work_.positions[i] += Vec3<double>{u.x, u.y, u.z};
      work_.relative_positions[i] = relative_position(work_.positions[i]);
    }
  }

  /// x [m].
  ISOCLOTH_DEVICE Vec3<double> position(Index i) const {
    if constexpr (origin_is_zero)
      return {work_.relative_positions[i].x, work_.relative_positions[i].y, work_.relative_positions[i].z};
    else
      return work_.positions[i];
  }

 private:
  template <Items Springs>
  ISOCLOTH_DEVICE const PlasticStrains<Real>& plastic_strains() const {
    if constexpr (Springs == Items::structural_springs)
      return a_.plastic.structural;
    else if constexpr (Springs == Items::shear_springs)
      return a_.plastic.shear;
    else
      return a_.plastic.bend;
  }
  /// Calls visit(index in an array of shape [cloth, packet, width]) for every lane of a packet of a kind.
  template <Items Springs, class Visit>
  ISOCLOTH_DEVICE void for_lanes(Index packet, const Visit& visit) const {
    constexpr auto width = static_cast<std::size_t>(Lanes<PairLanes<Real>>::width);
    const std::size_t strains =
        plastic_strains<Springs>().kept.size() / static_cast<std::size_t>(a_.cloth_count);
    const std::size_t first = cloth_ * strains + packet * width;
    for (std::size_t i = first; i < first + width; ++i) visit(i);
  }
  ISOCLOTH_DEVICE SpringYield<Real> yield_of(const PlasticStrains<Real>& strains,
                                             const PairPackets<Real>& springs) const {
    if (strains.now.empty()) return {nullptr, Real(0), Real(0)};
    constexpr auto width = static_cast<std::size_t>(Lanes<PairLanes<Real>>::width);
    const std::size_t first = cloth_ * static_cast<std::size_t>(springs.packet_count()) * width;
    return {strains.now.data() + first, parameters_.yield_strain, parameters_.flow};
  }
  ISOCLOTH_DEVICE std::size_t first_node() const { return cloth_ * static_cast<std::size_t>(p_.node_count); }

  ISOCLOTH_DEVICE Vec4<Real> relative_position(Vec3<double> x) const {
    if constexpr (origin_is_zero)
      return {x.x, x.y, x.z, 0};
    else
      return {static_cast<Real>(x.x - origin_.x), static_cast<Real>(x.y - origin_.y),
              static_cast<Real>(x.z - origin_.z), Real(0)};
  }

  const ImpulseCloths<Real>& a_;
  const ImpulsePattern<Real>& p_;
  const ImpulseWork<Real> work_;
  const Index cloth_, shape_;
  const ImpulseParameters<Real> parameters_;
  const Real h_;  ///< duration of a part [s]
  Vec3<double> origin_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
