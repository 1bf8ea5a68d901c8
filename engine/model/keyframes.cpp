#include "engine/model/keyframes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/model/contact_checks.hpp"
#include "engine/model/fabric_numbers.hpp"
#include "engine/model/recipe_checks.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {
namespace {

constexpr std::string_view fabric_path = "fabric.";

template <class Owner>
using Numbers = std::map<std::string, std::function<double&(Owner&)>, std::less<>>;

const Numbers<Scene>& numbers_of_scene() {
  static const Numbers<Scene> all{
      {"gravity", [](Scene& s) -> double& { return s.gravity; }},
      {"wind.velocity[0]", [](Scene& s) -> double& { return s.wind.velocity.x; }},
      {"wind.velocity[1]", [](Scene& s) -> double& { return s.wind.velocity.y; }},
      {"wind.velocity[2]", [](Scene& s) -> double& { return s.wind.velocity.z; }},
      {"wind.gusts", [](Scene& s) -> double& { return s.wind.gusts; }},
      {"contact.cloth_friction.static", [](Scene& s) -> double& { return s.contact.cloth_friction.static_; }},
      {"contact.cloth_friction.dynamic",
       [](Scene& s) -> double& { return s.contact.cloth_friction.dynamic; }},
  };
  return all;
}
/// All but those of its fabric and its gravity, which may be the scene's.
const Numbers<Garment>& numbers_of_garment() {
  static const Numbers<Garment> all{
      {"pressure", [](Garment& g) -> double& { return g.pressure; }},
      {"sewing.force", [](Garment& g) -> double& { return g.sewing.force; }},
      {"sewing.speed", [](Garment& g) -> double& { return g.sewing.speed; }},
      {"sewing.stiffness", [](Garment& g) -> double& { return g.sewing.stiffness; }},
      {"sewing.strength", [](Garment& g) -> double& { return g.sewing.strength; }},
  };
  return all;
}
const Numbers<Obstacle>& numbers_of_obstacle() {
  static const Numbers<Obstacle> all{
      {"friction.static", [](Obstacle& o) -> double& { return o.friction.static_; }},
      {"friction.dynamic", [](Obstacle& o) -> double& { return o.friction.dynamic; }},
  };
  return all;
}

template <class Owner>
std::vector<std::string> names_of(const Numbers<Owner>& all) {
  std::vector<std::string> names;
  for (const auto& [name, number] : all) names.push_back(name);
  return names;
}
/// Names of the numbers that these may be of.
std::vector<std::string> names_for(const Keyframes& keyframes) {
  if (keyframes.garments.empty())
    return keyframes.obstacle == Keyframes::none ? names_of(numbers_of_scene())
                                                 : names_of(numbers_of_obstacle());
  std::vector<std::string> names = names_of(numbers_of_garment());
  names.emplace_back("gravity");
  for (const FabricNumber& number : fabric_numbers()) names.push_back(text(fabric_path, number.name));
  return names;
}

/// Throws SceneError unless the keyframes are well formed and of a number of the scene.
void check_form(const Keyframes& keyframes, const Scene& scene, const std::string& key) {
  for (const std::size_t g : keyframes.garments)
    if (g >= scene.garments.size()) refuse(key + ".garment", g, text("less than ", scene.garments.size()));
  if (keyframes.obstacle != Keyframes::none) {
    if (keyframes.obstacle < 0 || keyframes.obstacle >= std::ssize(scene.obstacles))
      refuse(key + ".obstacle", keyframes.obstacle, text("0 to ", std::ssize(scene.obstacles) - 1));
    if (!keyframes.garments.empty()) refuse(key, "a garment and an obstacle", "one of them, or neither");
    if (!scene.bodies.empty())
      refuse(key + ".obstacle", "friction of an obstacle beside bodies",
             "none: contacts of bodies keep theirs; use contact.pairs and set_friction() of a program");
  }
  const std::vector<std::string> names = names_for(keyframes);
  if (std::ranges::find(names, keyframes.number) == names.end())
    refuse(key + ".number", text('"', keyframes.number, '"'),
           text("a number of ",
                !keyframes.garments.empty()             ? "a garment"
                : keyframes.obstacle != Keyframes::none ? "an obstacle"
                                                        : "the scene",
                " that may change while time runs; the nearest is \"", nearest_name(keyframes.number, names),
                '"'));
  const std::vector<double>& times = keyframes.values.times;
  if (times.empty()) refuse(key + ".times", "none", "at least one time");
  for (std::size_t j = 0; j < times.size(); ++j) {
    require_finite(text(key, ".times[", j, "]"), times[j]);
    if (j > 0 && times[j] < times[j - 1])
      refuse(text(key, ".times[", j, "]"), times[j], text("at least the time before it, ", times[j - 1]));
    if (j > 1 && times[j] == times[j - 2])
      refuse(text(key, ".times[", j, "]"), text(times[j], " for the third time"),
             "each once, or twice for a jump");
  }
  require_size(key + ".values", keyframes.values.values.size(), times.size(), "time");
  for (std::size_t j = 0; j < times.size(); ++j)
    require_finite(text(key, ".values[", j, "]"), keyframes.values.values[j]);
}

/// All numbers of one owner that change, each with its place in the scene's list.
using Changing = std::vector<std::pair<std::size_t, const Keyframes*>>;

/// The value that a number comes from at time t, where it jumps.
double value_before(const DrivenNumber& number, double t) {
  const auto at = std::ranges::lower_bound(number.times, t);
  return at != number.times.end() && *at == t
             ? number.values[static_cast<std::size_t>(at - number.times.begin())]
             : number.at(t);
}

/// Calls set() for all of these numbers as they are at each time of each of them, and then check(). Of what
/// that refuses the first is told that names the number whose time it is.
template <class Set, class Check>
void check_at_all_times(const Changing& changing, const Set& set, const Check& check) {
  std::optional<std::string> first;
  for (const auto& [i, keyframes] : changing)
    for (std::size_t j = 0; j < keyframes->values.times.size(); ++j) {
      const std::vector<double>& times = keyframes->values.times;
      const double t = times[j];
      const bool is_before_jump = j + 1 < times.size() && times[j + 1] == t;
      for (const auto& [k, other] : changing)
        set(*other, is_before_jump ? value_before(other->values, t) : other->values.at(t));
      try {
        check();
      } catch (const SceneError& error) {
        const std::string found = text("keyframes[", i, "].values[", j, "]: at ", t, " s: ", error.what());
        if (found.find(keyframes->number + ":") != std::string::npos) throw SceneError(found);
        if (!first) first = found;
      }
    }
  if (first) throw SceneError(*first);
}

void check_of_scene(const Changing& changing, const Scene& scene) {
  Scene changed;  // all that these numbers are of
  changed.wind = scene.wind;
  changed.contact.cloth_friction = scene.contact.cloth_friction;
  for (const auto& [i, keyframes] : changing)
    if (keyframes->number.starts_with("contact.") && !scene.contact.cloth)
      refuse(text("keyframes[", i, "].number"), text('"', keyframes->number, '"'), "contact.cloth with it");
  check_at_all_times(
      changing, [&](const Keyframes& k, double value) { number_of(k, 0, changed) = value; },
      [&] {
        validate_wind(changed.wind, "wind");
        validate_friction(changed.contact.cloth_friction, "contact.cloth_friction");
      });
}

void check_of_obstacle(const Changing& changing, const Obstacle& obstacle, const std::string& key) {
  Obstacle changed{
      .name = {}, .shape = {}, .position = {}, .rotation = {}, .motion = {}, .friction = obstacle.friction};
  check_at_all_times(
      changing,
      [&](const Keyframes& k, double value) {
        numbers_of_obstacle().find(k.number)->second(changed) = value;
      },
      [&] { validate_friction(changed.friction, key + ".friction"); });
}

void check_of_garment(const Changing& changing, const Scene& scene, std::size_t g) {
  const Garment& garment = scene.garments[g];
  const std::string key = text("garments[", g, "]");
  Scene changed;
  changed.garments = {garment};
  Garment& own = changed.garments[0];
  const Recipe& recipe = find_recipe(scene.recipe);
  bool is_of_fabric = false;
  for (const auto& [i, keyframes] : changing) {
    is_of_fabric = is_of_fabric || keyframes->number.starts_with(fabric_path);
    if (keyframes->number == "pressure" && garment.pressure == 0)
      refuse(text("keyframes[", i, "].number"), text("\"pressure\" of ", key, " without one"),
             text("a ", key, ".pressure other than 0 beside it, so that its steps have room for one"));
  }
  check_at_all_times(
      changing,
      [&](const Keyframes& keyframes, double value) {
        Keyframes first = keyframes;
        first.garments = {0};
        number_of(first, 0, changed) = value;
      },
      [&] {
        require_positive(key + ".sewing.force", own.sewing.force);
        require_positive(key + ".sewing.speed", own.sewing.speed);
        require_positive(key + ".sewing.stiffness", own.sewing.stiffness);
        require_positive(key + ".sewing.strength", own.sewing.strength);
        if (!is_of_fabric) return;
        validate_fabric(key + ".fabric", own.fabric);
        check_same_terms(key + ".fabric", own.fabric, garment.fabric);
        check_recipe_of(key, own, recipe);
      });
}

}  // namespace

double Keyframes::at(double t, double h) const {
  constexpr double rounding = 1e-6;  // of a step
  const auto same = std::ranges::lower_bound(values.times, t - rounding * h);
  return values.at(same != values.times.end() && *same <= t + rounding * h ? *same : t);
}

double& number_of(const Keyframes& keyframes, std::size_t garment, Scene& scene) {
  const std::string& name = keyframes.number;
  if (keyframes.obstacle != Keyframes::none)
    return numbers_of_obstacle().find(name)->second(
        scene.obstacles[static_cast<std::size_t>(keyframes.obstacle)]);
  if (keyframes.garments.empty()) return numbers_of_scene().find(name)->second(scene);
  Garment& own = scene.garments[garment];
  if (name == "gravity") return own.gravity ? *own.gravity : own.gravity.emplace(scene.gravity);
  if (!name.starts_with(fabric_path)) return numbers_of_garment().find(name)->second(own);
  return find_fabric_number(name.substr(fabric_path.size()), "keyframes").of(own.fabric);
}

bool has_keyframes(const Scene& scene, std::string_view beginning) {
  return std::ranges::any_of(scene.keyframes,
                             [&](const Keyframes& k) { return k.number.starts_with(beginning); });
}

void validate_keyframes(const Scene& scene) {
  // By owner: the scene, an obstacle, a garment.
  std::map<std::pair<std::ptrdiff_t, std::ptrdiff_t>, Changing> owners;
  for (std::size_t i = 0; i < scene.keyframes.size(); ++i) {
    const Keyframes& own = scene.keyframes[i];
    const std::string key = text("keyframes[", i, "]");
    check_form(own, scene, key);
    const auto add = [&](std::ptrdiff_t garment) {
      Changing& changing = owners[{own.obstacle, garment}];
      for (const auto& [k, other] : changing)
        if (other->number == own.number)
          refuse(key + ".number", text('"', own.number, "\", which keyframes[", k, "] has"),
                 "each number once");
      changing.emplace_back(i, &own);
    };
    if (own.garments.empty()) add(-1);
    for (const std::size_t g : own.garments) add(static_cast<std::ptrdiff_t>(g));
  }
  for (const auto& [owner, changing] : owners) {
    const auto [obstacle, garment] = owner;
    if (obstacle != Keyframes::none)
      check_of_obstacle(changing, scene.obstacles[static_cast<std::size_t>(obstacle)],
                        text("obstacles[", obstacle, "]"));
    else if (garment >= 0)
      check_of_garment(changing, scene, static_cast<std::size_t>(garment));
    else
      check_of_scene(changing, scene);
  }
}

}  // namespace isocloth
