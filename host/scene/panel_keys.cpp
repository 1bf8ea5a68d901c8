#include "host/scene/panel_keys.hpp"

namespace isocloth {

void describe_panels(Keys& keys, PanelSpec& spec) {
  keys.objects("panels", "flat pieces of cloth, each with a name of its own", 1, [&](Keys& k, std::size_t p) {
    spec.panels.resize(p + 1);
    Panel& panel = spec.panels[p];
    k.word("name", panel.name, "name in seams", required);
    k.points("outline", panel.outline,
             "corners, counter-clockwise [m]; edge k goes from corner k to the next", required);
    k.objects("curves", "edges that are Bezier curves", 0, [&](Keys& c, std::size_t i) {
      panel.curves.resize(i + 1);
      c.integer("edge", panel.curves[i].edge, whole(0, 2147483647), "number of the edge, from 0", required);
      c.points("control", panel.curves[i].control, "one control point, or two [m]", required);
    });
    k.number("grain", panel.grain, any_number, "direction of the warp from the panel's x axis [degrees]");
    k.vector("rotation", panel.rotation,
             "rotation vector of the panel, which stands upright, its y axis up, and faces -y [degrees]");
    k.vector("translation", panel.translation, "displacement after it [m]");
    k.number("around", panel.around, not_negative,
             "radius by which it is bent about an upright axis behind it, before that [m]; 0: flat");
  });
  keys.objects(
      "seams", "edges that are sewn together, whichever way round their threads are shorter", 0,
      [&](Keys& k, std::size_t s) {
        spec.seams.resize(s + 1);
        Seam& seam = spec.seams[s];
        k.word("panel", seam.panels[0], "name of a panel", required);
        k.integer("edge", seam.edges[0], whole(0, 2147483647), "number of its edge, from 0", required);
        k.word("other_panel", seam.panels[1], "name of the other panel, or of the same", required);
        k.integer("other_edge", seam.edges[1], whole(0, 2147483647), "number of its edge, from 0", required);
      });
  keys.number("edge_length", spec.edge_length, positive, "of the mesh, about [m]", required);
}

void describe_sewing(Keys& keys, Sewing& sewing) {
  keys.object("sewing", "how the seams of panels are closed and held", Need::optional, [&](Keys& k) {
    k.number("force", sewing.force, positive,
             "at most, with which seams are drawn together that are open by more than speed does in a step "
             "[N/m of seam]");
    k.number("speed", sewing.speed, positive, "at which their sides come nearer, at most [m/s]");
    k.number("stiffness", sewing.stiffness, positive,
             "of seams that are closer than that: force per opening [N/m per m of seam]");
  });
}

}  // namespace isocloth
