#include "host/scene/scene_keys.hpp"

#include "engine/model/models.hpp"
#include "engine/model/recipe.hpp"
#include "host/files/names.hpp"
#include "host/scene/fabric_keys.hpp"
#include "host/scene/motion_keys.hpp"

namespace isocloth {
namespace {

/// Whole numbers that every JSON reader keeps exactly.
constexpr Range seed_range = whole(0, 9007199254740991.0);
/// More nodes along one side than fit into memory in total.
constexpr double most_nodes = 10'000'000;

void describe_mesh(Keys& keys, MeshSpec& mesh) {
  const auto nodes = [&mesh](Keys& k) {
    k.tuple("nodes", mesh.nodes, whole(2, most_nodes), "nodes along x and y", required);
  };
  const auto size = [&mesh](Keys& k) {
    k.tuple("size", mesh.size, positive, "width along x and height along y [m]", required);
  };
  const auto around = [&mesh](Keys& k) {
    k.integer("around", mesh.around, whole(3, most_nodes), "nodes per circle", required);
  };
  const auto radial = [&mesh](Keys& k) {
    k.integer("radial", mesh.radial, whole(2, most_nodes), "number of circles", required);
  };
  const auto faces = [&mesh](Keys& k) {
    k.choice("faces", mesh.faces, {"quads", "triangles"}, "kind of faces");
  };
  const auto generator = [&mesh](const char* name, const char* doc, const Keys::Describe& describe) {
    return Keys::Alternative{"generator", name, doc, [&mesh, name, describe](Keys& k) {
                               mesh.generator = name;
                               describe(k);
                             }};
  };
  keys.one_of(
      "mesh", "rest shape: a generator or a file", required,
      {generator("quad_grid", "regular quads on [0, width] x [0, height] in the plane z = 0",
                 [=](Keys& k) {
                   nodes(k);
                   size(k);
                 }),
       generator(
           "triangle_grid", "the same nodes, each quad cut in two triangles",
           [=, &mesh](Keys& k) {
             nodes(k);
             size(k);
             k.choice("diagonals", mesh.diagonals, {"parallel", "alternating"}, "direction of the cuts");
           }),
       generator(
           "irregular_triangles", "irregular Delaunay triangles on [0, width] x [0, height]",
           [=, &mesh](Keys& k) {
             k.integer("boundary_segments", mesh.boundary_segments, whole(1, most_nodes),
                       "edges along each side", required);
             k.integer("interior_nodes", mesh.interior_nodes, whole(0, most_nodes), "nodes inside", required);
             size(k);
             k.number("seed", mesh.seed, seed_range, "seed of the node places; default: the scene's seed");
           }),
       generator("ring", "flat annulus around the origin in the plane z = 0",
                 [=, &mesh](Keys& k) {
                   radial(k);
                   around(k);
                   k.number("inner_radius", mesh.inner_radius, positive, "radius of the hole [m]", required);
                   k.number("outer_radius", mesh.outer_radius, positive,
                            "radius of the edge [m], above inner_radius", required);
                   faces(k);
                   k.number("phase", mesh.phase, any_number, "turn about the z axis [rad]");
                 }),
       generator("disc", "flat disc around the origin in the plane z = 0",
                 [=, &mesh](Keys& k) {
                   radial(k);
                   around(k);
                   k.number("radius", mesh.radius, positive, "radius [m]", required);
                   faces(k);
                 }),
       generator("tube", "open cylinder about the z axis",
                 [=, &mesh](Keys& k) {
                   k.integer("along", mesh.along, whole(2, most_nodes), "circles along z", required);
                   around(k);
                   k.number("radius", mesh.radius, positive, "radius [m]", required);
                   k.number("height", mesh.height, positive, "length along z [m]", required);
                   faces(k);
                 }),
       generator("tank_top", "tank top of two panels, triangles; x to the side, z up, y to the front",
                 [&mesh](Keys& k) {
                   k.integer("triangles", mesh.triangles, whole(1, most_nodes), "about this many triangles");
                 }),
       {"panels", "",
        "panels of Delaunay triangles, sewn together; pins, grippers and contact see them where they stand "
        "at "
        "the start, drawn together while the simulation begins",
        [&mesh](Keys& k) { describe_panels(k, mesh.sewn); }},
       {"file", "",
        "OBJ or PLY file; vertex order is kept, and texture coordinates say where threads run, if every "
        "corner of a face has some: warp along u; or the sewn.h5 of a result: garments as they were sewn, "
        "with "
        "their rest shape and seams",
        [&mesh](Keys& k) {
          k.string("file", mesh.file, "path, relative to the folder of the scene file [coordinates in m]",
                   required);
          k.string("garment", mesh.garment, "name of the garment of a sewn.h5; default: its only one");
          k.number("weld", mesh.weld, not_negative,
                   "distance within which nodes on open edges are united, which closes seams that a program "
                   "left open [m]; the first of them stays, numbers of later nodes move up; 0: none");
          k.flag("repair", mesh.repair,
                 "whether faults of the file are mended: vertices at one place, repeated faces and corners, "
                 "needles, edges of more than two faces, pieces that meet in a vertex alone, faces that run "
                 "against their piece, tiny pieces; a warning counts them, and what is a choice is refused");
          k.number(
              "uv_scale", mesh.uv_scale, not_negative,
              "units of the file, metres unless transform.scale says otherwise, per unit of texture "
              "coordinates that are a pattern: its islands are panels, cut along their borders and sewn "
              "together, and the file has where they stand; what a vertex has more than one of comes after "
              "all vertices; 0: no pattern, the file has the rest shape");
          k.number("grain", mesh.grain, any_number,
                   "direction of the warp of such a pattern from u [degrees]; 90: along v, as patterns are "
                   "drawn");
        }}});
}

void describe_weights(Keys& keys, SelectSpec& select) {
  keys.object(
      "weights", "a file of weights, as programs paint them, and which are selected", required, [&](Keys& k) {
        k.string("file", select.weights_file,
                 "rows of one number, of each node, relative to the folder of the scene file", required);
        k.number("above", select.above, any_number, "nodes with more are selected");
      });
}

void describe_select(Keys& keys, SelectSpec& select) {
  using Kind = SelectSpec::Kind;
  const auto form = [&select](const char* key, const char* doc, Kind kind, const Keys::Describe& describe) {
    return Keys::Alternative{key, "", doc, [&select, kind, describe](Keys& k) {
                               select.kind = kind;
                               describe(k);
                             }};
  };
  keys.one_of("select", "the nodes; selecting none is an error", required,
              {form("nodes", "by number", Kind::nodes,
                    [&](Keys& k) {
                      k.list("nodes", select.nodes, whole(0, 2147483647), "node numbers, from 0", required);
                    }),
               form("nearest", "the nearest node to each point, in the order of the points", Kind::nearest,
                    [&](Keys& k) {
                      k.vectors("nearest", select.nearest, "points in the initial shape [m]", required);
                    }),
               form("box", "initial positions inside an axis-aligned box, its faces included", Kind::box,
                    [&](Keys& k) {
                      k.object("box", "opposite corners", required, [&](Keys& box) {
                        box.vector("min", select.min, "lowest x, y, z [m]", required);
                        box.vector("max", select.max, "highest x, y, z [m]", required);
                      });
                    }),
               form("sphere", "initial positions inside a sphere", Kind::sphere,
                    [&](Keys& k) {
                      k.object("sphere", "centre and radius", required, [&](Keys& sphere) {
                        sphere.vector("center", select.center, "centre [m]", required);
                        sphere.number("radius", select.radius, positive, "radius [m]", required);
                      });
                    }),
               form("boundary_loop", "one closed boundary curve", Kind::boundary_loop,
                    [&](Keys& k) {
                      k.integer("boundary_loop", select.boundary_loop, whole(0, 2147483647),
                                "number of the curve, from 0", required);
                    }),
               form("weights", "by a weight of each node", Kind::weights,
                    [&](Keys& k) { describe_weights(k, select); }),
               form("all", "every node: a surface that is driven, a body that other cloth meets", Kind::all,
                    [&](Keys& k) { k.flag("all", select.all, "true", required); })});
}

void describe_variation(Keys& keys, const std::string& path, Variation& variation) {
  const auto values = [&variation](Keys& k) {
    variation.is_list = true;
    k.list("values", variation.values, any_number, "one value per replica", required);
  };
  const auto range = [&variation](Keys& k) {
    k.number("from", variation.from, any_number,
             "value of the first replica, or one end of the random values", required);
    k.number("to", variation.to, any_number, "value of the last replica, or the other end", required);
    k.choice("scale", variation.scale, {"linear", "log"}, "equal differences or equal ratios");
    k.choice("sample", variation.sampling, {"even", "uniform"},
             "evenly spaced over the replicas, or random from the scene's seed, uniform on the scale");
  };
  keys.one_of(path, "a number of the garment by its path, and the values that it takes", required,
              {{"values", "", "a list", values}, {"from", "", "a range", range}});
}

void describe_batch(Keys& keys, GarmentSpec& garment) {
  keys.number("replicas", garment.replicas, whole(1, 10'000'000),
              "number of garments like this one, called name[0], name[1], ...; they do not touch each other, "
              "but number i of one garment meets "
              "number i of others where contact.cloth is true");
  keys.members(
      "vary",
      "numbers that differ from replica to replica, all of them together, by path: fabric.density, gravity, "
      "time_offset, mesh.size[0], transform.translation[2], pins[0].motion.frequency and every other "
      "number of the garment; the garment's own value is not used then",
      [&](Keys& k, const std::string& path) {
        garment.vary.emplace_back(path, Variation{});
        describe_variation(k, path, garment.vary.back().second);
      });
}

enum class Quality { standard, realtime, film };

/// Defaults of other keys, as the table of host/docs/RUNNING.md has them.
void set_quality(Quality quality, ProjectionSettings& settings) {
  switch (quality) {
    case Quality::standard:
      break;
    case Quality::realtime:
      settings.tolerance = 1e-2;
      settings.budget.solves = 2;
      settings.sleep.after = 0.5;
      break;
    case Quality::film:
      settings.tolerance = 2e-4;
      settings.cg_tolerance = 1e-3;
      break;
  }
}

void describe_projection(Keys& keys, ProjectionSettings& settings) {
  auto quality = Quality::standard;
  keys.choice("quality", quality, {"default", "realtime", "film"},
              "defaults of the other keys: realtime, tolerance 0.01, budget.solves 2, sleep.after 0.5; film, "
              "tolerance 2e-4, cg_tolerance 1e-3");
  set_quality(quality, settings);
  keys.choice("method", settings.method,
              {to_string(ProjectionMethod::proximal_newton), to_string(ProjectionMethod::fast_projection)},
              "how each step is brought back to the constraints");
  keys.choice(
      "metric", settings.metric, {to_string(Metric::implicit_b), to_string(Metric::mass)},
      "inner product of the projection: implicit, the matrix B with damping and bending; mass, M alone");
  keys.choice("integrator", settings.integrator, {std::begin(integrator_names), std::end(integrator_names)},
              integrator_doc);
  keys.choice(
      "factorization", settings.factorization,
      {to_string(FactorPattern::automatic), to_string(FactorPattern::whole), to_string(FactorPattern::rows)},
      "what the direct solvers factorise: the whole matrix, or the pattern of rows and contacts; "
      "bending beyond that is left to conjugate gradients: faster where it is soft; automatic: by the "
      "numbers of each garment");
  keys.number("cg_tolerance", settings.cg_tolerance, {.least = 0, .most = 0.5, .above = true},
              "relative residual that conjugate gradients may leave in an iteration, where the factor is "
              "that of the rows");
  keys.number("tolerance", settings.tolerance, {.least = 0, .most = 0.5, .above = true},
              "bound on the largest relative constraint error at the end of a step");
  keys.number("force_tolerance", settings.force_tolerance, not_negative,
              "bound on the largest force on a node that nothing balances at the end of a step, over the "
              "node's weight; 0: none");
  keys.integer("max_iterations", settings.max_iterations, whole(0, 1'000'000),
               "linear solves per step or part of a step; 0: 50, and 12 with contact.cloth");
  keys.number(
      "eps", settings.eps, {.least = 0, .most = 0.5},
      "relative softness of the rows; 0: 1e-6 (proximal_newton), 1e-7 (fast_projection), 1e-4 in float32");
  keys.integer("max_substeps", settings.max_substeps, whole(0, 1 << 20),
               "a step that misses its tolerance is tried again in 2, 4, ... parts up to this power of two; "
               "0: 1, with bodies 8, and with contact.cloth 16, or up to 256 until no node goes farther than "
               "an element in a "
               "part");
  keys.object(
      "budget",
      "what a step may cost, for scenes in real time: one that has spent it ends where it is, in one part, "
      "whatever its tolerances say; it is counted (steps_cut), and cloth does not pass through cloth",
      Need::optional, [&](Keys& k) {
        k.integer(
            "solves", settings.budget.solves, whole(0, 1'000'000),
            "linear solves of a step, and up to two more where cloth would pass through cloth; results have "
            "the same bits everywhere; 0: no bound");
        k.number("milliseconds", settings.budget.milliseconds, not_negative,
                 "time that a step may take on the clock, a solve at least [ms]; results depend on the "
                 "machine and its load; 0: no bound");
      });
  keys.object(
      "sleep",
      "garments that rest are not stepped until something near them moves; they are counted (steps_asleep)",
      Need::optional, [&](Keys& k) {
        k.number("after", settings.sleep.after, not_negative,
                 "for how long a garment and all that it touches must rest before they sleep [s]; 0: never");
        k.number("speed", settings.sleep.speed, positive,
                 "speed below which all nodes must stay for that long [m/s]");
      });
  keys.choice("on_violation", settings.on_violation,
              {to_string(OnViolation::stop), to_string(OnViolation::go_on)},
              "what to do when a step misses its tolerance all the same");
}

void describe_impulse(Keys& keys, ImpulseSettings& settings) {
  keys.choice("mode", settings.mode, {to_string(ImpulseMode::substeps), to_string(ImpulseMode::converge)},
              "many short parts of a step at a known price, or sweeps until the tolerance is met");
  keys.number(
      "tolerance", settings.tolerance, {.least = 0, .most = 0.5, .above = true},
      "bound on the largest relative change of length (isometry rows: relative constraint error) at the "
      "end of a step");
  keys.integer("substeps", settings.substeps, whole(0, 1'000'000),
               "equal parts of a step; 0: as many as springs and bending need, parts of at most 0.5 ms in "
               "mode substeps "
               "and of 1 ms with bender_sle");
  keys.integer("max_sweeps", settings.max_sweeps, whole(0, 1'000'000),
               "sweeps over all rows per part; 0: 1 (substeps), 10000 (converge)");
  keys.number("relaxation", settings.relaxation, {.least = 0, .most = 1.999},
              "factor on every impulse; 0: 1 (substeps), chosen and watched (converge)");
  keys.choice("velocity_pass", settings.velocity_pass,
              {to_string(VelocityPass::automatic), to_string(VelocityPass::on), to_string(VelocityPass::off)},
              "impulses that also take away the velocities along the rows; automatic: in mode converge, and "
              "on isometry rows");
  keys.integer("max_solves", settings.max_solves, whole(1, 1'000'000),
               "bender_sle: linear solves per part before it falls back on sweeps");
  keys.choice("on_violation", settings.on_violation,
              {to_string(OnViolation::stop), to_string(OnViolation::go_on)},
              "what to do when a step misses its tolerance");
}

}  // namespace

void describe_transform(Keys& keys, const std::string& name, const std::string& doc,
                        TransformSpec& transform) {
  keys.object(name, doc, Need::optional, [&transform](Keys& k) {
    k.number("scale", transform.scale, positive, "factor on all lengths");
    k.vector("rotation", transform.rotation, "rotation vector [degrees]");
    k.vector("translation", transform.translation, "displacement [m]");
  });
}

void describe_garment(Keys& keys, GarmentSpec& garment) {
  keys.string("name", garment.name, "name in results, distinct; default: garment and its number");
  describe_mesh(keys, garment.mesh);
  describe_transform(keys, "transform",
                     "placing of the rest shape: x = R (scale x0) + translation; the initial shape, unless "
                     "initial says otherwise",
                     garment.transform);
  keys.object(
      "rest_noise", "seeded Gaussian displacement of the rest shape along its node normals, after transform",
      Need::optional, [&](Keys& k) {
        k.number("normal_deviation", garment.rest_noise.normal_deviation, not_negative,
                 "standard deviation [m]", required);
        k.number("seed", garment.rest_noise.seed, seed_range,
                 "seed of the noise; default: the scene's seed plus the garment's number in the file");
      });
  describe_initial(keys, garment.initial);
  keys.vector("initial_velocity", garment.initial_velocity, "velocity at the start [m/s]");
  keys.vector("initial_angular_velocity", garment.initial_angular_velocity,
              "angular velocity at the start about the centroid of the area [rad/s]");
  keys.object("fabric", "what the cloth is made of (Coltraro 2022, Table 1)", Need::optional,
              [&](Keys& k) { describe_fabric(k, garment); });
  describe_maps(keys, garment.maps);
  keys.number("gravity", garment.given.gravity, any_number,
              "acceleration along -z [m/s^2]; default: the scene's gravity");
  keys.number("time_offset", garment.given.time_offset, any_number,
              "time of the garment's motions at the start of the run [s]; its nodes start where they start: "
              "choose a time at which the motion is there too, or give the pins a ramp");
  describe_sewing(keys, garment.given.sewing);
  keys.integer(
      "layer", garment.layer, whole(0, 1000),
      "garments of lower layers are sewn first, and those of higher ones around them, where the scene "
      "has sewing");
  keys.number("pressure", garment.given.pressure, any_number,
              "behind the cloth over that in front of it, where its faces are counter-clockwise [Pa]");
  keys.objects("pins", "nodes with a prescribed motion", 0, [&](Keys& k, std::size_t p) {
    garment.pins.resize(p + 1);
    k.string("name", garment.pins[p].name, "name in messages; default: pin and its number");
    describe_select(k, garment.pins[p].select);
    describe_motion(k, garment.pins[p].motion);
    k.number(
        "stiffness", garment.pins[p].stiffness, not_negative,
        "of a soft pin: force per distance of each node from where it starts, a spring that holds it there "
        "[N/m]; 0: rigid. One that moves is a gripper with stiffness");
    k.number("strength", garment.pins[p].strength, not_negative,
             "of a soft pin: where a step begins with its spring pulling a node harder, it lets that go for "
             "good [N]; 0: never");
    k.number("ramp", garment.pins[p].ramp, not_negative,
             "time in which the nodes are brought from where they start to their motion, smoothly [s]; 0: a "
             "motion that starts elsewhere is an error");
  });
  keys.objects("grippers", "what takes hold of nodes, moves them and lets them go", 0,
               [&](Keys& k, std::size_t i) {
                 garment.grippers.resize(i + 1);
                 describe_gripper(k, garment.grippers[i]);
               });
}

static void describe_keyframes(Keys& keys, KeyframesSpec& spec) {
  keys.string("garment", spec.garment, "name of a garment, or of a batch for all its replicas, whose it is");
  keys.string("obstacle", spec.obstacle, "name of an obstacle, whose it is; default of both: the scene's");
  keys.string(
      "number", spec.number,
      "path of the number: of the scene gravity, wind.velocity[0], wind.gusts, "
      "contact.cloth_friction.static or dynamic; of a garment gravity, pressure, sewing.force, speed, "
      "stiffness or strength, fabric.density and what else set_fabric takes; of an obstacle "
      "friction.static or dynamic",
      required);
  keys.list("times", spec.values.times, any_number,
            "ascending, of the garment's motions, else of the simulation; a time that is there twice is a "
            "jump [s]",
            required);
  keys.list("values", spec.values.values, any_number,
            "at these times, in the unit of the number; straight between them, constant before and after",
            required);
}

void describe_scene(Keys& keys, SceneSpec& spec) {
  Scene& scene = spec.scene;
  std::vector<std::string> recipe_names;
  std::size_t recipe = 0;
  for (const Recipe& known : recipes()) {
    if (known.name == scene.recipe) recipe = recipe_names.size();
    recipe_names.emplace_back(known.name);
  }
  recipe_names.insert(recipe_names.end(), models().missing.begin(), models().missing.end());
  std::string schema;
  keys.string("$schema", schema, "for editors; ignored");
  keys.string("name", scene.name, "title in results; default: the file's name");
  keys.string_index("recipe", recipe, recipe_names, "published model");
  scene.recipe = recipe_names[recipe];
  keys.number("gravity", scene.gravity, any_number, "acceleration along -z [m/s^2]");
  keys.number("step", scene.step, positive, "time step [s]", required);
  keys.number("duration", scene.duration, positive, "simulated time [s], a whole number of steps", required);
  keys.number("frame_interval", scene.frame_interval, not_negative,
              "time between written frames [s], a whole number of steps; 0: every step");
  keys.integer("seed", scene.seed, seed_range, "seed of everything random");
  keys.object("projection", "accuracy and method of the projection", Need::optional,
              [&](Keys& k) { describe_projection(k, scene.projection); });
  keys.object("impulse", "accuracy and method of the impulse solvers", Need::optional,
              [&](Keys& k) { describe_impulse(k, scene.impulse); });
  keys.object("contact", "how cloth is kept out of obstacles", Need::optional,
              [&](Keys& k) { describe_contact(k, scene.contact, spec.contact_tolerance, spec.pairs); });
  keys.object("wind", "the moving air, which fabrics with drag feel; default: still air", Need::optional,
              [&](Keys& k) { describe_wind(k, scene.wind); });
  describe_sewing_stage(keys, spec.sewing);
  keys.objects("obstacles", "what the cloth meets", 0, [&](Keys& k, std::size_t o) {
    spec.obstacles.resize(o + 1);
    describe_obstacle(k, spec.obstacles[o]);
  });
  keys.objects("bodies",
               "rigid bodies that fall and meet the cloth, which pushes back; recipes of the projection, by "
               "proximal_newton, in double precision",
               0, [&](Keys& k, std::size_t b) {
                 spec.bodies.resize(b + 1);
                 describe_body(k, spec.bodies[b]);
               });
  keys.objects("keyframes",
               "numbers that change while time runs, as if a program set them before each step, which has "
               "those of the time at which it begins; each number once",
               0, [&](Keys& k, std::size_t i) {
                 spec.keyframes.resize(i + 1);
                 describe_keyframes(k, spec.keyframes[i]);
               });
  keys.objects("garments", "the pieces of cloth", 1, [&](Keys& k, std::size_t g) {
    spec.garments.resize(g + 1);
    describe_garment(k, spec.garments[g]);
    describe_batch(k, spec.garments[g]);
  });
}

}  // namespace isocloth
