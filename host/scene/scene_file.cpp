#include "host/scene/scene_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "engine/model/contact_checks.hpp"
#include "engine/model/methods.hpp"
#include "host/files/error_text.hpp"
#include "host/files/in_file.hpp"
#include "host/files/key_reader.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/garment_maker.hpp"
#include "host/scene/obstacle_maker.hpp"
#include "host/scene/replicas.hpp"
#include "host/scene/scene_json.hpp"
#include "host/scene/unused_keys.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// The place of `found` among `names`.
std::size_t find_name(const std::vector<std::string>& names, const std::string& found,
                      const std::string& key) {
  const auto at = std::find(names.begin(), names.end(), found);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  throw SceneError(text(key, ": found \"", found, "\", expected ",
                        names.empty()
                            ? "a name, but there is none"
                            : text("a known name; the nearest is \"", nearest_name(found, names), "\"")));
}

/// Adds the pairs by number; a garment that stands for a batch counts for all its replicas. `file_numbers`:
/// number in the file of each garment of the scene, shape [garment].
void add_pairs(const SceneSpec& spec, const std::vector<std::size_t>& file_numbers, Scene& scene) {
  // First the names of the file, then those of single replicas.
  std::vector<std::string> garment_names, obstacle_names, body_names;
  for (std::size_t g = 0; g < spec.garments.size(); ++g)
    garment_names.push_back(spec.garments[g].name.empty() ? text("garment ", g) : spec.garments[g].name);
  for (const Garment& garment : scene.garments) garment_names.push_back(garment.name);
  for (const Obstacle& obstacle : scene.obstacles) obstacle_names.push_back(obstacle.name);
  for (const RigidBody& body : scene.bodies) body_names.push_back(body.name);
  using Two = std::array<std::pair<char, std::size_t>, 2>;
  std::map<Two, std::size_t> known;  // and the number of the pair in the file
  for (std::size_t p = 0; p < spec.pairs.size(); ++p) {
    const PairSpec& pair = spec.pairs[p];
    const std::string key = text("contact.pairs[", p, "]");
    const bool has_garment = !pair.garment.empty(), has_cloth = !pair.other_garment.empty(),
               has_obstacle = !pair.obstacle.empty(), has_body = !pair.body.empty(),
               has_other = !pair.other_body.empty();
    if (has_garment + has_cloth + has_obstacle + has_body + has_other != 2 || (has_garment && has_other) ||
        (has_obstacle && has_other) || (has_cloth && !has_garment)) {
      throw SceneError(
          text(key, ": found ", has_garment ? "garment " : "", has_cloth ? "other_garment " : "",
               has_obstacle ? "obstacle " : "", has_body ? "body " : "", has_other ? "other_body " : "",
               "of garment, other_garment, obstacle, body, other_body, expected garment and "
               "obstacle, garment and body, garment and other_garment, body and obstacle, or body "
               "and other_body"));
    }
    validate_friction(pair.friction, key);
    const auto note = [&](Two two, const std::string& first, const std::string& second) {
      if (two[1] < two[0]) std::swap(two[0], two[1]);
      const auto [earlier, is_new] = known.emplace(two, p);
      if (!is_new) {
        throw SceneError(text(key, ": found \"", first, "\" with \"", second, "\", already in pairs[",
                              earlier->second, "], expected each two of them once"));
      }
    };
    const std::size_t first_body = scene.obstacles.size();
    const auto body = [&](const char* name, const std::string& found) {
      return first_body + find_name(body_names, found, text(key, ".", name));
    };
    if (!has_garment) {
      const std::size_t own = body("body", pair.body);
      const std::size_t other = has_obstacle ? find_name(obstacle_names, pair.obstacle, key + ".obstacle")
                                             : body("other_body", pair.other_body);
      if (own == other) {
        throw SceneError(
            text(key, ".other_body: found \"", pair.other_body, "\", the body itself, expected another"));
      }
      note({std::pair{'s', own}, {'s', other}}, pair.body, has_obstacle ? pair.obstacle : pair.other_body);
      scene.contact.body_pairs.push_back(
          {.body = own - first_body, .other = other, .friction = pair.friction});
      continue;
    }
    const std::size_t name = find_name(garment_names, pair.garment, key + ".garment");
    const auto is_named = [&](std::size_t g, std::size_t by) {
      return by == file_numbers[g] || by == spec.garments.size() + g;
    };
    if (has_cloth) {
      const std::size_t other = find_name(garment_names, pair.other_garment, key + ".other_garment");
      for (std::size_t g = 0; g < scene.garments.size(); ++g)
        for (std::size_t h = 0; is_named(g, name) && h < scene.garments.size(); ++h) {
          const Index a = scene.garments[g].world, b = scene.garments[h].world;
          const bool meet = g == h || a == b || a == Garment::every_world || b == Garment::every_world;
          // Of one batch with itself each two are met twice.
          if (!is_named(h, other) || !meet || (is_named(h, name) && is_named(g, other) && h < g)) continue;
          note({std::pair{'g', g}, {'g', h}}, scene.garments[g].name, scene.garments[h].name);
          scene.contact.cloth_pairs.push_back({.garment = g, .other = h, .friction = pair.friction});
        }
      continue;
    }
    const std::size_t solid =
        has_obstacle ? find_name(obstacle_names, pair.obstacle, key + ".obstacle") : body("body", pair.body);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      if (!is_named(g, name)) continue;
      note({std::pair{'g', g}, {'s', solid}}, scene.garments[g].name,
           has_obstacle ? obstacle_names[solid] : pair.body);
      scene.contact.pairs.push_back({.garment = g, .obstacle = solid, .friction = pair.friction});
    }
  }
}

/// Adds the keyframes by number, as add_pairs() does pairs.
void add_keyframes(const SceneSpec& spec, const std::vector<std::size_t>& file_numbers, Scene& scene) {
  std::vector<std::string> garment_names, obstacle_names;
  for (std::size_t g = 0; g < spec.garments.size(); ++g)
    garment_names.push_back(spec.garments[g].name.empty() ? text("garment ", g) : spec.garments[g].name);
  for (const Garment& garment : scene.garments) garment_names.push_back(garment.name);
  for (const Obstacle& obstacle : scene.obstacles) obstacle_names.push_back(obstacle.name);
  for (std::size_t i = 0; i < spec.keyframes.size(); ++i) {
    const KeyframesSpec& from = spec.keyframes[i];
    const std::string key = text("keyframes[", i, "]");
    Keyframes& own = scene.keyframes.emplace_back();
    own.number = from.number;
    own.values = from.values;
    if (!from.obstacle.empty())
      own.obstacle = static_cast<std::ptrdiff_t>(find_name(obstacle_names, from.obstacle, key + ".obstacle"));
    if (from.garment.empty()) continue;
    const std::size_t name = find_name(garment_names, from.garment, key + ".garment");
    for (std::size_t g = 0; g < scene.garments.size(); ++g)
      if (name == file_numbers[g] || name == spec.garments.size() + g) own.garments.push_back(g);
  }
}

/// A recording that does not last from the start of the run to its end stands still where it does not.
void warn_of_short_recordings(const SceneSpec& spec, const std::vector<std::size_t>& file_numbers,
                              const Scene& scene, std::vector<std::string>& warnings) {
  const auto warn = [&](const std::string& key, const std::string& file, const std::vector<double>& times,
                        double offset) {
    const double begin = offset, end = offset + scene.duration;
    if (times.front() <= begin + scene.step && times.back() >= end - scene.step) return;
    warnings.push_back(text(key, " (", file, "): recorded from ", times.front(), " to ", times.back(),
                            " s, but the run lasts from ", begin, " to ", end,
                            " s: what it moves stands still in the rest"));
  };
  std::vector<char> seen(spec.garments.size(), 0);
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    // One replica speaks for all.
    if (std::exchange(seen[file_numbers[g]], char{1}) != 0) continue;
    const Garment& garment = scene.garments[g];
    const std::string key = text("garments[", file_numbers[g], "]");
    for (std::size_t p = 0; p < garment.pins.size(); ++p)
      if (const auto* const recorded = std::get_if<RecordedMotion>(&garment.pins[p].motion))
        warn(text(key, ".pins[", p, "].motion"), recorded->file, recorded->times, garment.time_offset);
    const std::vector<GripperSpec>& grippers = spec.garments[file_numbers[g]].grippers;
    for (std::size_t i = 0; i < garment.grippers.size(); ++i)
      if (const auto* const keys = std::get_if<KeyframeMotion>(&garment.grippers[i].motion);
          keys != nullptr && !grippers[i].poses_file.empty())
        warn(text(key, ".grippers[", i, "].motion"), grippers[i].poses_file, keys->times,
             garment.time_offset);
  }
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o)
    if (const auto* const keys = std::get_if<KeyframeMotion>(&scene.obstacles[o].motion);
        keys != nullptr && !spec.obstacles[o].poses_file.empty())
      warn(text("obstacles[", o, "].motion"), spec.obstacles[o].poses_file, keys->times, 0);
}

/// `root`: what `spec` was read from.
Scene make_scene(const SceneSpec& spec, const Json& root, const fs::path& path,
                 std::vector<std::string>& warnings, SewingPlan& sewing, const MonitorView& monitor) {
  Scene scene = spec.scene;
  if (scene.name.empty()) scene.name = path.stem().string();
  GarmentMaker maker(path.parent_path(), scene.seed, monitor);
  const Recipe& recipe = find_recipe(scene.recipe);
  const bool knows_poisson = method_of(recipe).accepts({Feature::poisson_ratio});
  std::vector<std::size_t> file_numbers;     // shape [garment of the scene]
  std::map<std::string, std::size_t> names;  // and the number of the garment in the file
  for (std::size_t g = 0; g < spec.garments.size(); ++g) {
    const std::string key = text("garments[", g, "]");
    const double replica_count = spec.garments[g].replicas.value_or(1);
    const auto require_room = [&](double nodes) {
      require_memory(key + ".replicas",
                     text(shortest(replica_count), " garments of ", nodes, " nodes or more each"),
                     replica_count * nodes);
    };
    constexpr double least_nodes = 3;
    require_room(least_nodes);
    for (const GarmentSpec& replica :
         replicas_of(spec.garments[g], root["garments"][g], key, g, scene.seed)) {
      try {
        within_memory_of(text(key, spec.garments[g].is_batch() ? " with those before it" : ""), [&] {
          const bool is_copy =
              !file_numbers.empty() && file_numbers.back() == g && spec.garments[g].vary.empty();
          monitor.check();
          scene.garments.push_back(is_copy ? Garment(scene.garments.back()) : maker.make(replica, key, g));
          if (is_copy) scene.garments.back().name = replica.name;
        });
        sewing.seams.push_back(maker.seams());
        sewing.layers.push_back(spec.garments[g].layer);
        if (replica.has_preset_poisson && !knows_poisson) scene.garments.back().fabric.poisson_ratio = 0;
      } catch (const SceneError& error) {
        if (!spec.garments[g].is_batch()) throw;
        throw SceneError(text(error.what(), "; in ", replica.name));
      } catch (const MeshError& error) {
        if (!spec.garments[g].is_batch()) throw;
        throw MeshError(text(error.what(), "; in ", replica.name));
      }
      if (file_numbers.empty() || file_numbers.back() != g)
        require_room(scene.garments.back().mesh.node_count());
      file_numbers.push_back(g);
      const bool is_next = file_numbers.size() > 1 && file_numbers.end()[-2] == g;
      if (spec.garments[g].is_batch())
        scene.garments.back().world = is_next ? scene.garments.end()[-2].world + 1 : 0;
      const std::string& name = scene.garments.back().name;
      const auto [earlier, is_new] = names.emplace(name, g);
      if (!is_new) {
        throw SceneError(text(key, ".name: found \"", name, "\", already the name of garments[",
                              earlier->second, "], expected another"));
      }
    }
  }
  for (std::size_t o = 0; o < spec.obstacles.size(); ++o) {
    const std::string key = text("obstacles[", o, "]");
    within_memory_of(key, [&] {
      scene.obstacles.push_back(make_obstacle(spec.obstacles[o], key, o, path.parent_path()));
    });
  }
  for (std::size_t b = 0; b < spec.bodies.size(); ++b) {
    const std::string key = text("bodies[", b, "]");
    within_memory_of(key,
                     [&] { scene.bodies.push_back(make_body(spec.bodies[b], key, b, path.parent_path())); });
  }
  within_memory_of("the whole scene", [&] {
    add_pairs(spec, file_numbers, scene);
    add_keyframes(spec, file_numbers, scene);
    scene.contact.tolerance = spec.contact_tolerance.value_or(default_contact_tolerance(scene));
    validate_scene(scene);
  });
  sewing.stage = spec.sewing;
  if (spec.sewing) validate_sewing(scene, *spec.sewing);
  for (std::size_t g = 0; spec.sewing && g < spec.garments.size(); ++g)
    if (spec.garments[g].initial.drape)
      throw SceneError(text("garments[", g,
                            "].initial: found a shape by drape, expected none with sewing, "
                            "which begins where panels stand"));
  warnings = unused_keys(root, recipe);
  warnings.insert(warnings.end(), maker.warnings().begin(), maker.warnings().end());
  warn_of_short_recordings(spec, file_numbers, scene, warnings);
  return scene;
}

}  // namespace

Scene read_scene(const fs::path& path, const FileAccess& access) {
  std::vector<std::string> warnings;
  return read_scene(path, warnings, access);
}

Scene read_scene(const fs::path& path, std::vector<std::string>& warnings, const FileAccess& access,
                 const MonitorView& monitor) {
  SewingPlan sewing;
  return read_scene(path, warnings, sewing, access, monitor);
}

Scene read_scene(const fs::path& path, std::vector<std::string>& warnings, SewingPlan& sewing,
                 const FileAccess& access, const MonitorView& monitor) {
  sewing = {};
  std::vector<std::string> notes;
  const Json root = read_scene_json(path, access, notes);
  SceneSpec spec;
  read_root_keys(root, path.string(), [&spec](Keys& keys) { describe_scene(keys, spec); });
  Scene scene = in_file(path, [&] { return make_scene(spec, root, path, warnings, sewing, monitor); });
  warnings.insert(warnings.begin(), notes.begin(), notes.end());
  return scene;
}

std::string portable_scene_text(const fs::path& path, const FileAccess& access) {
  const std::string content = read_whole_file(path);
  Json root = read_scene_json(path, access);
  bool changed = root != parse_json(content, path.string());
  make_files_absolute(root, path.parent_path(), changed);
  return changed ? root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : content;
}

std::string scene_schema() {
  return schema_of("isocloth scene", [](Keys& keys) {
    SceneSpec spec;
    describe_scene(keys, spec);
  });
}

}  // namespace isocloth
