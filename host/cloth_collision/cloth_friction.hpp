// Friction of cloths that meet, by classes of them.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/memory/buffer.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"

namespace isocloth {

/// Garments of one class have the same friction with every other garment, so that a batch of replicas takes a
/// line of the table and not as many as there are replicas.
struct FrictionClasses {
  std::vector<Index> of_garments;  ///< number of the class, shape [garment]
  /// Friction between garments of two classes, shape [class, class].
  std::vector<FrictionView<double>> between;
  std::vector<FrictionView<double>> with_self;  ///< friction of a garment with itself, shape [garment]
};
/// Sorts these garments of the scene into classes of friction. Time and memory grow with the number of
/// garments and of pairs that are said of them, and with the square of the number of classes.
FrictionClasses friction_classes(const Scene& scene, const std::vector<const Garment*>& garments);

/// Friction between garments, as FrictionClasses, in the memory of a device.
class ClothFrictionTable {
 public:
  ClothFrictionTable(const Device& device, const FrictionClasses& classes)
      : of_garments_(device, classes.of_garments),
        between_(device, classes.between),
        with_self_(device, classes.with_self),
        class_count_(1 + std::ranges::max(classes.of_garments)) {}
  ClothFriction view() const {
    return {of_garments_.view(), between_.view(), with_self_.view(), class_count_};
  }

 private:
  Buffer<Index> of_garments_;
  Buffer<FrictionView<double>> between_, with_self_;
  Index class_count_;
};

}  // namespace isocloth
