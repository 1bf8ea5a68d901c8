// How the garments of a scene are sewn before its time begins.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/mesh/panels.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// What is done where seams stay open when sewing ends.
enum class IfOpen { stop, go_on };

/// When sewing ends, and how hard seams pull; host/run/sew.hpp.
struct SewingStage {
  double tolerance = 2e-4;  ///< widest opening of a seam that is closed [m], > 0
  double balance = 0.02;    ///< largest force on a node that is not balanced, over its weight, > 0
  /// Strain to which the pull of seams stretches the cloth at most: its force is this times the lesser
  /// stiffness of warp and weft, > 0.
  double strain = 0.1;
  int most_steps = 1500;  ///< greatest number of steps, >= 1
  IfOpen if_open = IfOpen::stop;
  int frames = 0;  ///< every how many steps the shape is kept, >= 0; 0: not at all
};

struct SewingPlan {
  std::optional<SewingStage> stage;  ///< none: seams close while time runs
  /// Names of the seams of each garment and when they are closed, shape [garment]; null, or no list: they
  /// have no names and close together.
  std::vector<std::shared_ptr<const SeamNames>> seams;
  /// Garments of lower layers are sewn first and lie inside, shape [garment] or empty: all are of layer 0.
  std::vector<Index> layers;

  Index layer(std::size_t garment) const { return garment < layers.size() ? layers[garment] : 0; }
  /// Names of a garment's seams; null: it has none.
  const SeamNames* names(std::size_t garment) const {
    return garment < seams.size() ? seams[garment].get() : nullptr;
  }
  /// When a stitch of a garment is closed, lower numbers first.
  Index order(std::size_t garment, std::size_t stitch) const {
    const SeamNames* const of = names(garment);
    return of == nullptr ? 0 : of->orders[static_cast<std::size_t>(of->of_stitches[stitch])];
  }
};

}  // namespace isocloth
