// The linear system of a tile of cloths whose factor leaves couplings out.
#pragma once

#include "kernels/batch/cloth_tile.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// See conjugate_gradients(). The right side is where the solution will be.
template <class S, class T, class Block>
class TileSystem : ClothTile<S, T, Block> {
  using Tile = ClothTile<S, T, Block>;
  using Tile::p_, Tile::block_, Tile::at_;

 public:
  ISOCLOTH_DEVICE TileSystem(const Tile& tile, const MetricView<S, T>& metric,
                             const Couplings<S, T>& couplings, const BlockCholesky<S>& factor)
      : Tile(tile),
        metric_(metric),
        couplings_(couplings),
        factor_(factor),
        x_(Tile::free_nodes(at_.correction)),
        r_(vector(0)),
        z_(vector(1)),
        direction_(vector(2)),
        q_(vector(3)),
        w_(vector(4)) {
    for_each([&](Index i) { r_[i] = x_[i]; });
  }

  ISOCLOTH_DEVICE void precondition() const {
    for_each([&](Index i) { z_[i] = r_[i]; });
    Tile::solve(factor_, z_);
  }
  ISOCLOTH_DEVICE S energy() const {
    return Tile::sum(r_.size(), [&](Index i) { return dot_add(r_[i], z_[i], S{}); });
  }
  ISOCLOTH_DEVICE S most_energy() const {
    return Tile::sum(r_.size(), [&](Index i) { return dot_add(r_[i], r_[i], S{}) / mass(i); });
  }
  ISOCLOTH_DEVICE void begin() const {
    for_each([&](Index i) { x_[i] = z_[i] - z_[i], direction_[i] = z_[i], q_[i] = r_[i]; });
  }
  ISOCLOTH_DEVICE S curvature() const {
    for_each([&](Index i) { w_[i] = q_[i] + coupled<S, T>(couplings_, direction_, i); });
    return Tile::sum(w_.size(), [&](Index i) { return dot_add(direction_[i], w_[i], S{}); });
  }
  ISOCLOTH_DEVICE void descend(S alpha) const {
    for_each([&](Index i) {
      x_[i] = multiply_add(alpha, direction_[i], x_[i]);
      r_[i] = multiply_add(-alpha, w_[i], r_[i]);
    });
  }
  ISOCLOTH_DEVICE void turn(S beta) const {
    for_each([&](Index i) {
      direction_[i] = multiply_add(beta, direction_[i], z_[i]);
      q_[i] = multiply_add(beta, q_[i], r_[i]);
    });
  }

 private:
  ISOCLOTH_DEVICE ArrayView<Vec3<S>> vector(std::size_t number) const {
    return Tile::free_nodes(at_.krylov + number * 3 * p_.free.nodes.size());
  }
  template <class Work>
  ISOCLOTH_DEVICE void for_each(const Work& work) const {
    share(block_, x_.size(), work);
    block_.sync();
  }

  ISOCLOTH_DEVICE S mass(Index i) const { return metric_.inertia * S(metric_.masses[p_.free.nodes[i]]); }

  const MetricView<S, T>& metric_;
  const Couplings<S, T>& couplings_;
  const BlockCholesky<S>& factor_;
  const ArrayView<Vec3<S>> x_, r_, z_, direction_, q_, w_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
