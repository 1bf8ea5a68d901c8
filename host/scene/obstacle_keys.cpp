#include "host/scene/obstacle_keys.hpp"

#include <numbers>
#include <optional>

#include "host/files/names.hpp"
#include "host/scene/motion_keys.hpp"
#include "host/scene/shape_keys.hpp"

namespace isocloth {
namespace {

/// Thickness and rounding of a slab below z = 0.
void describe_slab(Keys& keys, double& thickness, double& rounding) {
  keys.number("thickness", thickness, positive, "of the slab [m]", required);
  keys.number("rounding", rounding, not_negative, "radius of its edges [m], at most half of the thickness");
}

void describe_heights(Keys& keys, HeightFieldShape& shape, std::string& file) {
  keys.number("spacing", shape.spacing, positive, "distance of neighbouring samples along x and y [m]",
              required);
  const auto in_file = [&](Keys& k) {
    k.string("file", file,
             "text file, relative to the folder of the scene file: a row per y, ascending, of heights [m] by "
             "ascending x, with commas or blanks between them",
             required);
  };
  const auto in_place = [&](Keys& k) {
    std::array<double, 2> samples{};
    k.tuple("samples", samples, whole(2, 1'000'000), "numbers of samples along x and y", required);
    shape.samples = {static_cast<Index>(samples[0]), static_cast<Index>(samples[1])};
    k.list("values", shape.heights, any_number, "heights [m], row after row, x fastest", required);
  };
  keys.one_of("heights", "z at the samples", required,
              {{"file", "", "from a file", in_file}, {"values", "", "in place", in_place}});
}

void describe_mesh(Keys& keys, MeshShape& shape, ObstacleSpec& obstacle) {
  keys.string("file", obstacle.file, "OBJ, PLY or STL file, relative to the folder of the scene file",
              required);
  keys.number("scale", obstacle.scale, positive, "factor on its coordinates; 0.001 for a file in mm");
  keys.number("weld", obstacle.weld, not_negative,
              "distance within which nodes on open edges are united [m], after scale; 0: none");
  keys.number(
      "cell", shape.cell, not_negative,
      "between distances near the surface [m]; 0: 1/64 of the longest side of the bounding box, 1/128 where "
      "the surface is not closed or has walls thinner than three cells");
  keys.number("thicken", shape.thicken, not_negative,
              "distance by which the surface is moved outwards, of a sheet to both sides [m]");
}

void describe_shape(Keys& keys, ObstacleSpec& obstacle) {
  const auto form = [&obstacle](const char* type, const char* doc, auto describe) {
    return Keys::Alternative{"type", type, doc,
                             [&obstacle, describe](Keys& k) { obstacle.shape = describe(k); }};
  };
  keys.one_of("shape", "the solid, in a frame of its own", required,
              {form("plane", "the half space z <= 0", [](Keys&) { return PlaneShape{}; }),
               form("sphere", "around the origin",
                    [](Keys& k) {
                      SphereShape shape;
                      describe_sphere(k, shape);
                      return shape;
                    }),
               form("capsule", "points near a segment of the z axis that is centred at the origin",
                    [](Keys& k) {
                      CapsuleShape shape;
                      k.number("radius", shape.radius, positive, "distance from the segment [m]", required);
                      k.number("length", shape.length, positive, "of the segment, without the caps [m]",
                               required);
                      return shape;
                    }),
               form("cylinder", "about the z axis, centred at the origin, its rims rounded",
                    [](Keys& k) {
                      CylinderShape shape;
                      describe_cylinder(k, shape);
                      return shape;
                    }),
               form("box", "centred at the origin, edges and corners rounded",
                    [](Keys& k) {
                      BoxShape shape;
                      describe_box(k, shape);
                      return shape;
                    }),
               form("table", "a slab with its top at z = 0, centred at the z axis",
                    [&obstacle](Keys& k) {
                      BoxShape shape;
                      std::array<double, 2> size{};
                      k.tuple("size", size, positive, "lengths along x and y [m]", required);
                      describe_slab(k, shape.size.z, shape.rounding);
                      shape.size = {size[0], size[1], shape.size.z};
                      obstacle.shift = {0, 0, -shape.size.z / 2};
                      return shape;
                    }),
               form("round_table", "a round slab with its top at z = 0, centred at the z axis",
                    [&obstacle](Keys& k) {
                      CylinderShape shape;
                      k.number("radius", shape.radius, positive, "radius [m]", required);
                      describe_slab(k, shape.height, shape.rounding);
                      obstacle.shift = {0, 0, -shape.height / 2};
                      return shape;
                    }),
               form("height_field",
                    "solid below z = height(x, y), bilinear between samples; the first is at x = y = 0",
                    [&obstacle](Keys& k) {
                      HeightFieldShape shape;
                      describe_heights(k, shape, obstacle.file);
                      return shape;
                    }),
               form("mesh", "the solid that any faces wind around, or a sheet", [&obstacle](Keys& k) {
                 MeshShape shape;
                 describe_mesh(k, shape, obstacle);
                 return shape;
               })});
}

void describe_friction(Keys& keys, Friction& friction) {
  std::optional<double> dynamic;
  keys.number("static", friction.static_, not_negative, "coefficient of friction of contacts that stick",
              required);
  keys.number("dynamic", dynamic, not_negative,
              "coefficient of contacts that slide, at most the static one; default: the static one");
  friction.dynamic = dynamic.value_or(friction.static_);
}

}  // namespace

void describe_obstacle(Keys& keys, ObstacleSpec& obstacle) {
  keys.string("name", obstacle.name, "name in results, distinct; default: obstacle and its number");
  describe_shape(keys, obstacle);
  keys.vector("position", obstacle.position, "of the shape's origin at time 0 [m]");
  Vec3d degrees;
  keys.vector("rotation_degrees", degrees, "of its axes at time 0, a rotation vector [degrees]");
  obstacle.rotation = std::numbers::pi / 180 * degrees;
  describe_motion(keys, obstacle.motion, obstacle.poses_file);
  keys.object("friction",
              "with every garment; with a body the geometric mean of both; where contact.pairs has nothing "
              "else; default: none",
              Need::optional, [&](Keys& k) { describe_friction(k, obstacle.friction); });
}

void describe_body(Keys& keys, BodySpec& body) {
  ObstacleSpec& solid = body.solid;
  keys.string("name", solid.name, "name in results, distinct; default: body and its number");
  describe_shape(keys, solid);
  keys.flag("external", body.is_external,
            "whether it moves as the dynamics of another program have it, with the inertia that this says "
            "(Simulation.set_external_motion); it rests in steps for which nothing was said, and passes "
            "through obstacles and others of its kind");
  keys.number("mass", body.mass, positive,
              "[kg], evenly spread; either this or density; of an external body neither");
  keys.number("density", body.density, positive, "[kg/m^3]; either this or mass");
  keys.vector("position", solid.position, "of the shape's origin at the start [m]");
  Vec3d degrees;
  keys.vector("rotation_degrees", degrees, "of its axes at the start, a rotation vector [degrees]");
  solid.rotation = std::numbers::pi / 180 * degrees;
  keys.vector("velocity", body.velocity, "of the centre of mass at the start [m/s]");
  keys.vector("angular_velocity", body.angular_velocity, "at the start, along the axes of the world [rad/s]");
  keys.object("friction",
              "with every garment; with an obstacle or another body the geometric mean of both; where "
              "contact.pairs has nothing else; default: none",
              Need::optional, [&](Keys& k) { describe_friction(k, solid.friction); });
}

void describe_contact(Keys& keys, ContactSettings& settings, std::vector<PairSpec>& pairs) {
  keys.number(
      "tolerance", settings.tolerance, positive,
      "by how much, at most a hundredth of it, the thickness of cloth at an obstacle or body may differ "
      "from that of its pressure when a step ends; how much nearer than it must be cloth may come to "
      "cloth, a body to another, or with impulses cloth to an obstacle [m]");
  keys.number("margin", settings.margin, not_negative,
              "distance kept between cloth and obstacles, beyond half the thickness of the cloth [m]");
  keys.flag("resolve_initial_penetration", settings.resolve_initial_penetration,
            "whether cloth that starts inside of an obstacle is moved out within initial_penetration_time; "
            "else it is "
            "an error");
  keys.number("initial_penetration_time", settings.initial_penetration_time, not_negative,
              "within which cloth that starts inside of an obstacle is eased out, no faster than 1.5 depth / "
              "initial_penetration_time [s]; 0: at once");
  keys.flag("cloth", settings.cloth,
            "whether cloth meets itself and other cloth, at the distance of its thickness; all recipes but "
            "terzopoulos1987, those of the projection by proximal_newton");
  keys.choice("initial", settings.initial, {to_string(ClothStart::refuse), to_string(ClothStart::separate)},
              "of cloth that starts nearer to cloth than its thickness: the first steps push it apart, which "
              "gives it speed, or it is parted before them, perhaps into obstacles "
              "(resolve_initial_penetration); cloth that passes "
              "through cloth is an error with either");
  keys.object("cloth_friction", "friction of cloth with cloth; default: none", Need::optional,
              [&](Keys& k) { describe_friction(k, settings.cloth_friction); });
  keys.objects(
      "pairs",
      "friction of two: garment and obstacle or garment and body, in place of the obstacle's or body's "
      "own; garment and other_garment, in place of cloth_friction; body and obstacle or body and other_body, "
      "in place of the geometric mean of both",
      0, [&](Keys& k, std::size_t p) {
        pairs.resize(p + 1);
        k.string("garment", pairs[p].garment, "name of a garment, or of a batch for all its replicas");
        k.string("other_garment", pairs[p].other_garment, "name of another garment or batch, or of the same");
        k.string("obstacle", pairs[p].obstacle, "name of an obstacle");
        k.string("body", pairs[p].body, "name of a body");
        k.string("other_body", pairs[p].other_body, "name of another body");
        describe_friction(k, pairs[p].friction);
      });
}

}  // namespace isocloth
