#include "tests/fuzz/mutations.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// Around a string whose content is written as it is, without quotes: what no JSON value can say.
constexpr const char* raw_begin = "@raw@";
constexpr const char* raw_end = "@end@";

struct Slot {
  Json* parent;
  std::string key;  ///< in an object
  std::size_t index;
  std::string path;
  Json& value() const { return parent->is_object() ? (*parent)[key] : (*parent)[index]; }
};

void collect(Json& value, std::string path, std::vector<Slot>& slots) {
  if (value.is_object())
    for (auto& [key, member] : value.items()) {
      slots.push_back({&value, key, 0, path + "." + key});
      collect(member, slots.back().path, slots);
    }
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) {
      slots.push_back({&value, "", i, text(path, "[", i, "]")});
      collect(value[i], slots.back().path, slots);
    }
}

std::vector<Slot> slots_of(Json& scene) {
  std::vector<Slot> slots;
  collect(scene, "", slots);
  return slots;
}

template <class Condition>
std::vector<Slot> slots_where(Json& scene, const Condition& condition) {
  std::vector<Slot> slots = slots_of(scene);
  slots.erase(std::remove_if(slots.begin(), slots.end(), [&](const Slot& s) { return !condition(s); }),
              slots.end());
  return slots;
}

std::string raw(const std::string& tokens) { return text(raw_begin, tokens, raw_end); }

Json boundary_value(Choice& choice) {
  if (choice.happens(0.5))
    return choice.of({0.0,    -0.0,     1.0,          -1.0,         2.0,
                      0.5,    1e-300,   5e-324,       1e300,        1.7976931348623157e308,
                      -1e300, 1e15,     2147483647.0, 2147483648.0, 4294967296.0,
                      9.3e18, 1.9e19,   1e-12,        1e12,         1e6,
                      1e-6,   3.0000001});
  if (choice.happens(0.4))
    return raw(choice.of<std::string>({"NaN",
                                       "Infinity",
                                       "-Infinity",
                                       "nan",
                                       "1e999",
                                       "-1e999",
                                       "00",
                                       "+1",
                                       ".5",
                                       "1.",
                                       "0x10",
                                       "1e-999",
                                       "1e",
                                       "undefined",
                                       "1,2",
                                       "",
                                       "tru",
                                       "1 // one",
                                       "'a'",
                                       "1 2",
                                       text("0.", std::string(400, '3')),
                                       std::string(400, '9'),
                                       "\"\\ud800\"",
                                       "\"\\u0000\"",
                                       "\"\\x\""}));
  return choice.of<Json>({nullptr,
                          true,
                          false,
                          "",
                          "1",
                          "NaN",
                          "0.1",
                          Json::object(),
                          Json::array(),
                          Json::array({1}),
                          Json::array({0, 0, 0}),
                          Json{{"x", 1}},
                          "\u00fc\U0001F4A5",
                          std::string(5000, 'a'),
                          "/dev/null",
                          ".",
                          "..",
                          "\x1b[31m",
                          "a\nb",
                          7,
                          -7,
                          99999999,
                          1LL << 62});
}

/// One value, key or number becomes another; says which.
std::string break_value(Json& scene, const std::vector<SeedScene>& seeds, Choice& choice) {
  const Slot slot = choice.of(slots_of(scene));
  Json& value = slot.value();
  const bool is_member = slot.parent->is_object();
  switch (choice.below(12)) {
    case 0:
      if (is_member)
        slot.parent->erase(slot.key);
      else
        slot.parent->erase(slot.index);
      return slot.path + " is left out";
    case 1:
      if (!is_member) {
        slot.parent->push_back(Json(value));
        return slot.path + " is there twice";
      }
      (*slot.parent)[slot.key + raw_end] = choice.happens(0.5) ? Json(value) : boundary_value(choice);
      return slot.path + " is a key twice";
    case 2: {
      if (!is_member) break;
      const Json kept = value;
      std::string key = slot.key;
      slot.parent->erase(slot.key);
      const std::size_t at = choice.below(std::max<std::size_t>(1, key.size()));
      key = choice.of<std::string>({key + "s", text(" ", key), key.substr(0, at), "",
                                    key.substr(0, at) + "_" + key.substr(at), text("\u0435", key),
                                    std::string(3000, 'k')});
      (*slot.parent)[key] = kept;
      return slot.path + " is called " + key.substr(0, 40);
    }
    case 3: {
      Json deep = value;
      const int depth = choice.of({2, 5, 50, 600, 20000});
      const bool in_arrays = choice.happens(0.5);
      std::string tokens;
      for (int i = 0; i < depth; ++i) tokens += in_arrays ? "[" : "{\"a\":";
      tokens += "1";
      for (int i = 0; i < depth; ++i) tokens += in_arrays ? "]" : "}";
      value = raw(tokens);
      return text(slot.path, " is nested ", depth, " deep");
    }
    case 4: {
      Json& other = choice.of(slots_of(scene)).value();
      const Json mine = value, yours = other;
      value = yours;
      return slot.path + " is another's value";
    }
    case 5: {
      Json foreign = choice.of(seeds).scene;
      const Slot from = choice.of(slots_of(foreign));
      value = from.value();
      return slot.path + " is another scene's " + from.path;
    }
    default:
      break;
  }
  value = boundary_value(choice);
  return text(slot.path, " = ", value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60));
}

std::string scale_number(Json& scene, Choice& choice, bool is_mild) {
  const auto slots = slots_where(scene, [](const Slot& s) { return s.value().is_number(); });
  if (slots.empty()) return "no numbers";
  const Slot slot = choice.of(slots);
  const int most = is_mild ? 1 : 12;
  const double exponent = choice.between(-most, most);
  const double factor =
      is_mild ? std::pow(10, exponent) : std::pow(10, std::trunc(exponent)) * choice.of({1.0, 1.0, -1.0});
  Json& value = slot.value();
  // Whole numbers stay whole where anything else is refused at once.
  if (value.is_number_integer() && is_mild)
    value = std::max(1LL, std::llround(factor * value.get<double>()));
  else
    value = factor * value.get<double>();
  return text(slot.path, " times ", factor);
}

Json& any_garment(Json& scene, Choice& choice) {
  return scene["garments"][choice.below(scene["garments"].size())];
}

Json random_vector(Choice& choice, double most) {
  return {choice.between(-most, most), choice.between(-most, most), choice.between(-most, most)};
}

Json random_motion(Choice& choice) {
  const double way = std::pow(10, choice.between(-3, 0.3));
  if (choice.happens(0.4))
    return {{"type", "oscillation"},
            {"amplitude", random_vector(choice, way)},
            {"frequency", std::pow(10, choice.between(-1, 2))}};
  Json motion{{"type", "keyframes"}, {"times", Json::array()}, {"translations", Json::array()}};
  double t = 0;
  for (std::size_t i = 0, count = 1 + choice.below(4); i < count; ++i) {
    motion["times"].push_back(t);
    motion["translations"].push_back(i == 0 && choice.happens(0.8) ? Json{0, 0, 0}
                                                                   : random_vector(choice, way));
    if (choice.happens(0.3)) motion["rotations_degrees"] = Json::array();
    t += std::pow(10, choice.between(-2, -0.5));
  }
  if (motion.contains("rotations_degrees"))
    for (std::size_t i = 0; i < motion["times"].size(); ++i)
      motion["rotations_degrees"].push_back(i == 0 ? Json{0, 0, 0} : random_vector(choice, 90));
  return motion;
}

Json random_mesh(Choice& choice) {
  const auto n = [&choice](std::size_t least, std::size_t most) {
    return least + choice.below(most - least + 1);
  };
  const double size = 0.1 + choice.between(0, 0.4);
  const char* faces = choice.of({"quads", "triangles"});
  switch (choice.below(7)) {
    case 0:
      return {{"generator", "quad_grid"}, {"nodes", {n(2, 7), n(2, 7)}}, {"size", {size, 0.3}}};
    case 1:
      return {{"generator", "triangle_grid"},
              {"nodes", {n(2, 7), n(2, 7)}},
              {"size", {size, 0.3}},
              {"diagonals", choice.of({"parallel", "alternating"})}};
    case 2:
      return {{"generator", "irregular_triangles"},
              {"boundary_segments", n(1, 6)},
              {"interior_nodes", n(0, 30)},
              {"size", {size, 0.3}}};
    case 3:
      return {{"generator", "ring"},      {"radial", n(2, 5)},    {"around", n(3, 12)},
              {"inner_radius", size / 3}, {"outer_radius", size}, {"faces", faces}};
    case 4:
      return {{"generator", "disc"},
              {"radial", n(2, 5)},
              {"around", n(3, 12)},
              {"radius", size},
              {"faces", faces}};
    case 5:
      return {{"generator", "tube"}, {"along", n(2, 6)}, {"around", n(3, 12)},
              {"radius", size / 4},  {"height", size},   {"faces", faces}};
    default:
      return {{"generator", "tank_top"}, {"triangles", 300}};
  }
}

Json random_pin(Choice& choice, std::size_t number) {
  Json pin{{"name", text("pin ", number)}};
  switch (choice.below(4)) {
    case 0:
      for (std::size_t i = 0, first = choice.below(8), count = 1 + choice.below(3); i < count; ++i)
        pin["select"]["nodes"].push_back(first + i);
      break;
    case 1:
      pin["select"]["nearest"] = Json::array({random_vector(choice, 0.4)});
      break;
    case 2: {
      const double x = choice.between(-0.2, 0.3);
      pin["select"]["box"] = {{"min", {x, -2, -2}}, {"max", {x + choice.between(0.01, 0.3), 2, 2}}};
      break;
    }
    default:
      pin["select"]["sphere"] = {{"center", random_vector(choice, 0.3)},
                                 {"radius", choice.between(0.05, 0.4)}};
  }
  if (choice.happens(0.6)) pin["motion"] = random_motion(choice);
  return pin;
}

Json random_obstacle(Choice& choice, std::size_t number) {
  Json obstacle{{"name", text("solid ", number)}, {"friction", {{"static", choice.between(0, 1)}}}};
  const double size = choice.between(0.03, 0.2);
  obstacle["shape"] = choice.of<Json>(
      {{{"type", "plane"}},
       {{"type", "sphere"}, {"radius", size}},
       {{"type", "capsule"}, {"radius", size / 2}, {"length", size}},
       {{"type", "cylinder"}, {"radius", size}, {"height", size}, {"rounding", size / 10}},
       {{"type", "box"}, {"size", {size, size, size}}, {"rounding", size / 10}},
       {{"type", "round_table"}, {"radius", size}, {"thickness", size / 2}, {"rounding", size / 8}}});
  obstacle["position"] = {choice.between(-0.1, 0.3), choice.between(-0.1, 0.3),
                          -choice.between(0, 0.3) - 0.6 * size};
  if (choice.happens(0.4)) obstacle["motion"] = random_motion(choice);
  return obstacle;
}

/// A part of the scene becomes another that may well be run; says which.
std::string change_part(Json& scene, const std::vector<SeedScene>& seeds, Choice& choice) {
  Json& garment = any_garment(scene, choice);
  switch (choice.below(13)) {
    case 0:
      garment["mesh"] = random_mesh(choice);
      garment.erase("vary");
      return "another mesh";
    case 1:
    case 2:
      garment["pins"] = Json::array();
      for (std::size_t i = 0, count = 1 + choice.below(3); i < count; ++i)
        garment["pins"].push_back(random_pin(choice, i));
      garment.erase("vary");
      return "other pins";
    case 3:
      if (garment.contains("pins") && !garment["pins"].empty()) {
        garment["pins"][choice.below(garment["pins"].size())]["motion"] = random_motion(choice);
        garment.erase("vary");
        return "another motion of pins";
      }
      return "no pins to move";
    case 4: {
      const char* recipe = choice.of(
          {"coltraro2022", "inextensible_edges", "bender_iterative", "bender_sle", "isometric_impulse"});
      scene["recipe"] = recipe;
      return text("recipe ", recipe);
    }
    case 5: {
      const bool projects = !scene.contains("impulse");
      Json& settings = scene[projects ? "projection" : "impulse"];
      settings["on_violation"] = choice.of({"continue", "stop"});
      settings["tolerance"] = std::pow(10, choice.between(-6, -1));
      if (projects) {
        settings["max_iterations"] = choice.of({1, 2, 4, 20, 100});
        settings["max_substeps"] = choice.of({1, 2, 8, 64});
        settings["method"] = choice.of({"proximal_newton", "proximal_newton", "fast_projection"});
      }
      return "other settings of the solver";
    }
    case 6: {
      Json& obstacles = scene["obstacles"];
      const std::size_t count = obstacles.is_null() ? 0 : obstacles.size();
      obstacles.push_back(random_obstacle(choice, count));
      if (choice.happens(0.5)) scene["contact"]["resolve_initial_penetration"] = true;
      return "another obstacle";
    }
    case 7:
      scene["wind"] = {{"velocity", random_vector(choice, choice.of({1.0, 5.0, 30.0}))},
                       {"gusts", choice.between(0, 2)}};
      return "wind";
    case 8: {
      Json gripper{{"name", "hand"},
                   {"region", {{"type", "sphere"}, {"radius", choice.between(0.02, 0.2)}}},
                   {"position", random_vector(choice, 0.2)},
                   {"motion", random_motion(choice)}};
      const double from = choice.between(-0.01, 0.1);
      gripper["holds"] = Json::array({{{"from", from}, {"to", from + choice.between(0.01, 0.2)}}});
      if (choice.happens(0.4)) gripper["stiffness"] = std::pow(10, choice.between(0, 6));
      garment["grippers"] = Json::array({gripper});
      garment.erase("vary");
      return "a gripper";
    }
    case 9: {
      Json body = random_obstacle(choice, 0);
      body.erase("motion");
      if (body["shape"]["type"] == "plane" || body["shape"]["type"] == "round_table")
        body["shape"] = {{"type", "sphere"}, {"radius", 0.05}};
      body["name"] = "body";
      body["density"] = std::pow(10, choice.between(0, 4));
      body["position"][2] = choice.between(0.1, 0.2);
      body["velocity"] = {0, 0, -choice.between(0, 5)};
      scene["bodies"] = Json::array({body});
      return "a body";
    }
    case 10: {
      const double step = std::pow(10, choice.between(-4, -1));
      scene["step"] = step;
      scene["duration"] = step * static_cast<double>(1 + choice.below(30));
      scene.erase("frame_interval");
      return text("steps of ", step, " s");
    }
    case 11: {
      const Json& other = choice.of(seeds).scene;
      garment["fabric"] = other["garments"][0]["fabric"];
      return "another fabric";
    }
    default: {
      const double place = std::pow(10, choice.between(0, 7));
      garment["transform"]["translation"] = {place, 0, 0};
      return text(place, " m away");
    }
  }
}

/// The scene's text, with what no JSON value can say.
std::string written(const Json& scene) {
  const std::string bytes = scene.dump(1, ' ', false, Json::error_handler_t::ignore);
  const std::string begin = text('"', raw_begin), end = text(raw_end, '"');
  std::string result;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t first = std::min(bytes.find(begin, at), bytes.size());
    result.append(bytes, at, first - at);
    if (first == bytes.size()) break;
    at = bytes.find(end, first) + end.size();
    const std::string value = Json::parse(bytes.substr(first, at - first)).get<std::string>();
    result.append(value, begin.size() - 1, value.size() + 2 - begin.size() - end.size());
  }
  // What is left ends a key that is there twice.
  for (std::size_t at = 0; (at = result.find(raw_end, at)) != std::string::npos;)
    result.erase(at, std::string_view(raw_end).size());
  return result;
}

}  // namespace

FuzzCase broken_scene(const std::vector<SeedScene>& seeds, Choice& choice) {
  SeedScene seed = choice.of(seeds);
  FuzzCase result{seed.name, {}, seed.files, {}};
  const std::size_t kind = choice.below(10);
  const std::size_t count = choice.of({1, 1, 1, 2, 3});
  if (kind < 6)
    for (std::size_t i = 0; i < count; ++i)
      result.changes.push_back(choice.happens(0.65) || !seed.scene.is_object()
                                   ? break_value(seed.scene, seeds, choice)
                                   : scale_number(seed.scene, choice, false));
  if (kind == 6 && seed.scene.contains("garments"))
    result.changes.push_back(change_part(seed.scene, seeds, choice));
  result.scene = written(seed.scene);
  if (kind == 7)
    for (std::size_t i = 0; i < count; ++i)
      result.changes.push_back("scene: " + damage(result.scene, choice));
  if (kind > 7 && result.files.empty()) {
    // Files are few, and so are the scenes that have them.
    while (result.files.empty()) {
      seed = choice.of(seeds);
      result = {seed.name, written(seed.scene), seed.files, {}};
    }
  }
  if (kind > 7) {
    auto file = result.files.begin();
    std::advance(file, choice.below(result.files.size()));
    for (std::size_t i = 0; i < count; ++i)
      result.changes.push_back(file->first + ": " + damage(file->second, choice));
    if (choice.happens(0.05)) result.files.erase(file);
  }
  return result;
}

FuzzCase changed_scene(const std::vector<SeedScene>& seeds, Choice& choice) {
  SeedScene seed = choice.of(seeds);
  FuzzCase result{seed.name, {}, seed.files, {}};
  const std::size_t count = choice.below(4);
  for (std::size_t i = 0; i < count; ++i)
    result.changes.push_back(choice.happens(0.6) ? change_part(seed.scene, seeds, choice)
                                                 : scale_number(seed.scene, choice, true));
  // Every step is a frame in most.
  if (choice.happens(0.6)) seed.scene["frame_interval"] = 0;
  result.scene = written(seed.scene);
  return result;
}

}  // namespace isocloth
