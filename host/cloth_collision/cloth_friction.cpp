#include "host/cloth_collision/cloth_friction.hpp"

#include <map>
#include <set>
#include <utility>

namespace isocloth {
namespace {

using Coefficients = std::pair<double, double>;  ///< static, dynamic
/// Friction of a garment with others, by their numbers, where it is not the usual.
using Line = std::map<std::size_t, Coefficients>;
/// What garments of a class have in common: a line, with the garment itself in it or not.
using Sign = std::pair<bool, Line>;

FrictionView<double> view(const Coefficients& friction) { return {friction.first, friction.second}; }

/// Lines of two garments of a class differ in these two alone: they agree where each is left out, if the
/// friction of the two is the usual, or where each stands in its own with that of the two.
std::vector<Sign> signs_of(std::size_t garment, const Line& line) {
  std::vector<Sign> signs{{false, line}};
  std::set<Coefficients> values;
  for (const auto& [other, friction] : line) values.insert(friction);
  for (const Coefficients& friction : values) {
    signs.emplace_back(true, line);
    signs.back().second[garment] = friction;
  }
  return signs;
}

}  // namespace

FrictionClasses friction_classes(const Scene& scene, const std::vector<const Garment*>& garments) {
  const std::size_t count = garments.size();
  const Coefficients usual{scene.contact.cloth_friction.static_, scene.contact.cloth_friction.dynamic};
  std::map<const Garment*, std::size_t> places;
  for (std::size_t g = 0; g < count; ++g) places[garments[g]] = g;
  std::vector<Line> lines(count);
  FrictionClasses classes;
  classes.with_self.assign(count, view(usual));
  for (const ClothFrictionPair& pair : scene.contact.cloth_pairs) {
    const auto a = places.find(&scene.garments[pair.garment]), b = places.find(&scene.garments[pair.other]);
    if (a == places.end() || b == places.end()) continue;
    const Coefficients own{pair.friction.static_, pair.friction.dynamic};
    if (a->second == b->second) {
      classes.with_self[a->second] = view(own);
    } else if (own == usual) {
      lines[a->second].erase(b->second);
      lines[b->second].erase(a->second);
    } else {
      lines[a->second][b->second] = lines[b->second][a->second] = own;
    }
  }
  std::map<Sign, std::size_t> known;
  std::vector<std::vector<std::size_t>> first_two;  // garments of each class
  for (std::size_t g = 0; g < count; ++g) {
    const std::vector<Sign> signs = signs_of(g, lines[g]);
    auto found = known.end();
    for (std::size_t s = 0; s < signs.size() && found == known.end(); ++s) found = known.find(signs[s]);
    const std::size_t number = found != known.end() ? found->second : first_two.size();
    if (found == known.end()) {
      first_two.emplace_back();
      for (const Sign& sign : signs) known.emplace(sign, number);
    }
    if (first_two[number].size() < 2) first_two[number].push_back(g);
    classes.of_garments.push_back(static_cast<Index>(number));
  }
  const auto between = [&](std::size_t a, std::size_t b) {
    const auto found = lines[a].find(b);
    return view(found != lines[a].end() ? found->second : usual);
  };
  for (std::size_t i = 0; i < first_two.size(); ++i)
    for (std::size_t j = 0; j < first_two.size(); ++j)
      // Of a class of one nobody asks.
      classes.between.push_back(i == j ? between(first_two[i].front(), first_two[i].back())
                                       : between(first_two[i].front(), first_two[j].front()));
  return classes;
}

}  // namespace isocloth
