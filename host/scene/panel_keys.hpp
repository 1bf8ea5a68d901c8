// The keys of garments that are sewn from panels.
#pragma once

#include "engine/mesh/panels.hpp"
#include "engine/model/sewing.hpp"
#include "host/files/keys.hpp"
#include "host/scene/panel_fabric.hpp"

namespace isocloth {

/// What a mesh of panels says.
struct PanelSpec {
  std::vector<Panel> panels;
  std::vector<PanelFabric> fabrics;  ///< of each panel
  std::vector<Seam> seams;
  Fasteners fasteners;
  double edge_length = 0;  ///< length of the edges of the mesh, about [m]
  bool operator==(const PanelSpec&) const = default;
};

void describe_panels(Keys& keys, PanelSpec& spec);
void describe_sewing(Keys& keys, Sewing& sewing);

}  // namespace isocloth
