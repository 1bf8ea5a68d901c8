// What stays of the cloths that meet: their surfaces and thicknesses.
#pragma once

#include <utility>

#include "engine/geometry/pair_search.hpp"
#include "engine/model/scene.hpp"
#include "host/memory/transfers.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"

namespace isocloth {

/// Nodes, edges and triangles of all garments that meet, for the host and in a device's memory, and how near
/// they come to each other.
class CollisionGeometry {
 public:
  /// features: of these garments, as PairSearch numbers them; they and the device must outlive it.
  /// tolerance: contact.tolerance [m].
  CollisionGeometry(const Device& device, const SurfaceFeatures& features,
                    const std::vector<const Garment*>& garments, double tolerance);

  const SurfaceFeatures& features() const { return features_; }
  ClothFeatures device_features() const {
    return {triangles_.view(), sides_.view(), edges_.view(), node_garments_.view()};
  }
  std::size_t node_count() const { return rest_.size(); }
  const std::vector<double>& thicknesses() const { return thicknesses_; }  ///< [m], shape [garment]
  ArrayView<const double> device_thicknesses() const { return device_thicknesses_.view(); }
  ArrayView<const Vec3d> device_rest() const { return rest_.view(); }  ///< rest shapes [m], shape [node]
  double tolerance() const { return tolerance_; }  ///< deepest penetration that a step may end with [m]
  double reach() const { return reach_; }          ///< gap up to which a contact keeps its force [m]
  std::size_t memory_bytes() const;

 private:
  const SurfaceFeatures& features_;
  const double tolerance_;
  std::vector<double> thicknesses_;
  double reach_ = 0;
  Buffer<Index> triangles_, sides_, edges_, node_garments_;
  Buffer<double> device_thicknesses_;
  Buffer<Vec3d> rest_;
};

/// Straight ways of all nodes from where a part of a step begins to the iterate, for the host and for
/// kernels. All of shape [node_count].
struct NodalTrajectories {
  NodalTrajectories(const Device& device, std::size_t node_count)
      : device_from(device, node_count),
        device_to(device, node_count),
        inverse_inertia(device, node_count),
        device_(&device) {}

  std::vector<Vec3d> from, to;  ///< x^n and the iterate [m]
  Buffer<Vec3d> device_from, device_to;
  Buffer<double> inverse_inertia;  ///< 0: pinned, held or frozen [1/kg]

  /// The iterate where the host can read it: copied when first asked for.
  std::vector<Vec3d>& host_to() {
    if (!std::exchange(is_to_known_, true)) device_to.copy_to(to);
    return to;
  }
  /// Room for the next iterate, which iterate() is from here on, and `to` after accept_next().
  Buffer<Vec3d>& begin_next() {
    if (device_next_.size() == 0) device_next_ = Buffer<Vec3d>(*device_, device_to.size());
    has_next_ = true;
    return device_next_;
  }
  void accept_next() {
    if (!std::exchange(has_next_, false)) return;
    std::swap(device_to, device_next_);
    is_to_known_ = false;
  }
  ArrayView<const Vec3d> iterate() const { return (has_next_ ? device_next_ : device_to).view(); }
  /// inverse_inertia where the host can read it, copied once for each part of a step.
  const double* host_inertia() const {
    if (inertia_at_ == nullptr) inertia_at_ = inverse_inertia.read(inertia_staging_);
    return inertia_at_;
  }
  /// Notes that a part of a step begins, with other inertia; downloads: it is fetched with more, or null.
  void begin_substep(Downloads* downloads = nullptr) {
    inertia_at_ = nullptr;
    if (downloads != nullptr)
      downloads->add(std::as_const(inverse_inertia).view(), inertia_staging_, inertia_at_);
  }

 private:
  const Device* device_;
  Buffer<Vec3d> device_next_;
  bool has_next_ = false;
  bool is_to_known_ = true;  ///< `to` is device_to
  mutable std::vector<double> inertia_staging_;
  mutable const double* inertia_at_ = nullptr;
};

}  // namespace isocloth
