#include "host/files/renamed_keys.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/fabric_numbers.hpp"

namespace isocloth {
namespace {

struct Renamed {
  std::string_view parent, old_name, name;
};

constexpr Renamed renamed_keys[] = {
    {"projection", "balance", "force_tolerance"},
    {"projection", "factor", "factorization"},
    {"contact", "push_out", "resolve_initial_penetration"},
    {"contact", "push_out_time", "initial_penetration_time"},
};
/// Words that are values of the key `parent`.
constexpr Renamed renamed_words[] = {{"metric", "B", "implicit"}, {"metric", "M", "mass"}};

/// The present name of a key of the object `parent`; empty: it has no other.
std::string_view present_name(std::string_view parent, std::string_view name) {
  if (parent == "fabric")
    for (const FabricNumber& number : fabric_numbers())
      if (number.old_name && name == number.old_name) return number.name;
  for (const Renamed& key : renamed_keys)
    if (key.parent == parent && key.old_name == name) return key.name;
  return {};
}

/// A note for the first object that has an old name.
void add_note(const std::string& path, const std::string& line, std::vector<std::string>& notes) {
  const bool is_known = std::any_of(notes.begin(), notes.end(),
                                    [&line](const std::string& note) { return note.ends_with(line); });
  if (!is_known) notes.push_back(path + line);
}

/// `path` of the object, whose key is `parent`.
void rename_in(Json& object, std::string_view parent, const std::string& path,
               std::vector<std::string>& notes) {
  if (!object.is_object()) return;
  const auto is_old = [&](const auto& member) { return !present_name(parent, member.key()).empty(); };
  const auto members = object.items();
  if (std::none_of(members.begin(), members.end(), is_old)) return;
  Json renamed = Json::object();  // in the same order
  for (const auto& [name, value] : object.items()) {
    const std::string now(present_name(parent, name));
    if (!now.empty() && object.contains(now))
      throw SceneError(text(path, ": found both ", name, " and ", now, ", which is its present name; leave ",
                            name, " out"));
    if (!now.empty())
      add_note(path, text(".", name, ": found an old name, read until version 1.0; write ", now), notes);
    renamed[now.empty() ? name : now] = std::move(value);
  }
  object = std::move(renamed);
}

}  // namespace

void rename_old_fabric_keys(Json& fabric, const std::string& key, std::vector<std::string>& notes) {
  rename_in(fabric, "fabric", key, notes);
}

void rename_old_keys(Json& scene, std::vector<std::string>& notes) {
  if (!scene.is_object()) return;
  for (const char* const key : {"projection", "contact"})
    if (const auto found = scene.find(key); found != scene.end()) rename_in(*found, key, key, notes);
  if (const auto projection = scene.find("projection"); projection != scene.end() && projection->is_object())
    if (const auto metric = projection->find("metric"); metric != projection->end())
      for (const Renamed& word : renamed_words)
        if (*metric == word.old_name) {
          *metric = word.name;
          notes.push_back(text("projection.metric: found an old word, ", word.old_name,
                               ", read until version 1.0; write ", word.name));
          break;
        }
  const auto garments = scene.find("garments");
  if (garments == scene.end() || !garments->is_array()) return;
  for (std::size_t g = 0; g < garments->size(); ++g)
    if (Json& garment = (*garments)[g]; garment.is_object() && garment.contains("fabric"))
      rename_old_fabric_keys(garment["fabric"], text("garments[", g, "].fabric"), notes);
}

std::string present_path(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == path.npos || dot == 0) return std::string(path);
  const std::size_t begin = path.rfind('.', dot - 1) + 1;  // npos + 1 is 0
  const std::string_view now = present_name(path.substr(begin, dot - begin), path.substr(dot + 1));
  return now.empty() ? std::string(path) : text(path.substr(0, dot + 1), now);
}

}  // namespace isocloth
