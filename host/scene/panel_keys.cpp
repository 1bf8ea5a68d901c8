#include "host/scene/panel_keys.hpp"

#include <optional>

namespace isocloth {

namespace {

void add_position(Keys& keys, const std::string& name, Vec2d& position) {
  std::array<double, 2> xy{position.x, position.y};
  keys.tuple(name, xy, any_number, "place in the plane of the panel [m]", required);
  position = {xy[0], xy[1]};
}

void describe_fold(Keys& keys, const std::string& doc, std::optional<PanelFold>& fold) {
  PanelFold found;
  bool is_given = false;
  keys.object("fold", doc, Need::optional, [&](Keys& k) {
    is_given = true;
    k.number(
        "angle", found.angle, {.least = -180, .most = 180},
        "by which the cloth turns there at rest, 0: flat, positive where its fronts come nearer [degrees]");
    k.number("factor", found.factor, not_negative,
             "stiffness over that of the cloth itself: 1 as without a fold, 0, and `stiffness` 0: it turns "
             "freely");
    k.number("stiffness", found.stiffness, not_negative, "further one, moment per length and angle [N]");
  });
  if (is_given) fold = found;
}

void describe_driven(Keys& keys, const std::string& name, const std::string& doc, const std::string& of,
                     const Range& range, std::optional<DrivenNumber>& number) {
  DrivenNumber found;
  bool is_given = false;
  keys.object(name, doc, Need::optional, [&](Keys& k) {
    is_given = true;
    k.list("times", found.times, any_number, "ascending, of the garment's motions [s]", required);
    k.list(of, found.values, range, "at these times; straight between them, constant before and after",
           required);
  });
  if (is_given) number = found;
}

}  // namespace

void describe_panels(Keys& keys, PanelSpec& spec) {
  keys.objects("panels", "flat pieces of cloth, each with a name of its own", 1, [&](Keys& k, std::size_t p) {
    spec.panels.resize(p + 1);
    Panel& panel = spec.panels[p];
    k.string("name", panel.name, "name in seams", required);
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
    k.objects("lines", "lines inside of the panel, where it is folded or something is sewn onto it", 0,
              [&](Keys& l, std::size_t i) {
                panel.lines.resize(i + 1);
                l.string("name", panel.lines[i].name, "name in seams", required);
                l.points(
                    "points", panel.lines[i].points,
                    "from end to end, at least two [m]; ends on the outline or on a line before it are nodes "
                    "of both",
                    required);
                describe_fold(l, "the line is pressed or stitched through", panel.lines[i].fold);
              });
    spec.fabrics.resize(p + 1);
    describe_panel_fabric(k, spec.fabrics[p]);
  });
  keys.objects(
      "seams", "edges that are sewn together, whichever way round their threads are shorter", 0,
      [&](Keys& k, std::size_t s) {
        spec.seams.resize(s + 1);
        Seam& seam = spec.seams[s];
        k.string("panel", seam.panels[0], "name of a panel", required);
        k.string("line", seam.lines[0], "name of a line of it, in the place of an edge");
        k.integer("edge", seam.edges[0], whole(0, 2147483647), "number of its edge, from 0",
                  seam.lines[0].empty() ? required : Need::optional);
        k.string("other_panel", seam.panels[1], "name of the other panel, or of the same", required);
        k.string("other_line", seam.lines[1], "name of a line of it, in the place of an edge");
        k.integer("other_edge", seam.edges[1], whole(0, 2147483647), "number of its edge, from 0",
                  seam.lines[1].empty() ? required : Need::optional);
        describe_driven(k, "zipper",
                        "share of the seam, from the first corner of `edge`, up to which it is closed; "
                        "default: it is sewn",
                        "closed", any_number, seam.zipper);
        describe_fold(k, "pressed or stitched, where both edges are of outlines; default: it turns freely",
                      seam.fold);
      });
  keys.objects(
      "buttons", "places on panels that a button or press stud holds together", 0,
      [&](Keys& k, std::size_t b) {
        spec.fasteners.buttons.resize(b + 1);
        PanelButton& button = spec.fasteners.buttons[b];
        k.string("panel", button.panels[0], "name of a panel", required);
        add_position(k, "at", button.positions[0]);
        k.string("other_panel", button.panels[1], "name of the other panel, or of the same", required);
        add_position(k, "other_at", button.positions[1]);
        k.number("distance", button.distance, positive,
                 "length of the thread between them, beyond which it pulls [m]");
        k.number("stiffness", button.stiffness, positive, "force per distance beyond it [N/m]");
        k.number("force", button.force, positive,
                 "at most, with which it is drawn closed where it is open by more than sewing.speed "
                 "does in a step [N]");
        k.number("strength", button.strength, not_negative,
                 "of a press stud: pulled harder it lets go, and holds again where its sides come near "
                 "[N]; 0: a button, which does not open");
      });
  keys.objects("bands", "elastic bands along edges", 0, [&](Keys& k, std::size_t b) {
    spec.fasteners.bands.resize(b + 1);
    PanelBand& band = spec.fasteners.bands[b];
    k.string("panel", band.panel, "name of a panel", required);
    k.integer("edge", band.edge, whole(0, 2147483647), "number of its edge, from 0", required);
    k.number("share", band.share, positive,
             "length of the band, when nothing pulls it, over that of the edge", required);
    describe_driven(k, "drawn", "a drawstring: shares at times, in the place of `share`", "shares", positive,
                    band.drawn);
    k.number("stiffness", band.stiffness, positive, "tension per strain [N]", required);
  });
  keys.number("edge_length", spec.edge_length, positive, "of the mesh, about [m]", required);
}

void describe_sewing(Keys& keys, Sewing& sewing) {
  keys.object("sewing", "how the seams of panels are closed and held", Need::optional, [&](Keys& k) {
    k.number("force", sewing.force, positive,
             "at most, with which seams are drawn together that are open by more than speed does in a step, "
             "besides the pull of bands that end there [N/m of seam]");
    k.number("speed", sewing.speed, positive, "at which their sides come nearer, at most [m/s]");
    k.number("stiffness", sewing.stiffness, positive,
             "of seams that are closer than that: force per opening [N/m per m of seam]");
  });
}

}  // namespace isocloth
