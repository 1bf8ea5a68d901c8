#include "host/files/number_paths.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "host/files/renamed_keys.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

/// What the description of a key has in its first brackets.
std::string unit_of(const std::string& doc) {
  const std::size_t open = doc.find('['), close = doc.find(']', open);
  return close == std::string::npos ? "" : doc.substr(open + 1, close - open - 1);
}

class PathCollector : public Keys {
 public:
  PathCollector(const Json& object, const std::string& path, std::vector<NumberPath>& found)
      : object_(object), path_(path), found_(found) {}

  void number(Text name, double&, const Range&, Text doc, Need) override { add(name, doc); }
  void number(Text name, std::optional<double>&, const Range&, Text doc) override { add(name, doc); }

  void tuple(Text name, std::span<double> values, const Range&, Text doc, Need) override {
    for (std::size_t i = 0; i < values.size(); ++i)
      add(text(name, "[", i, "]"), doc, {values.begin(), values.end()});
  }

  void list(Text name, std::vector<double>&, const Range&, Text doc, Need) override {
    for (std::size_t i = 0; i < size_of(name); ++i) add(text(name, "[", i, "]"), doc);
  }

  void vectors(Text name, std::vector<Vec3d>&, Text doc, Need) override { add_tuples(name, 3, doc); }
  void points(Text name, std::vector<Vec2d>&, Text doc, Need) override { add_tuples(name, 2, doc); }

  void string(Text, std::string&, Text, Need) override {}
  void string_index(Text, std::size_t&, const std::vector<std::string>&, Text) override {}
  void flag(Text, bool&, Text, Need) override {}
  void members(Text, Text, const std::function<void(Keys&, Text)>&) override {}

  void object(Text name, Text, Need, const Describe& describe) override {
    collect(object_.value(name, Json::object()), name, describe);
  }

  void objects(Text name, Text, std::size_t,
               const std::function<void(Keys&, std::size_t)>& describe) override {
    for (std::size_t i = 0; i < size_of(name); ++i)
      collect(object_[name][i], text(name, "[", i, "]"), [&](Keys& keys) { describe(keys, i); });
  }

  void one_of(Text name, Text, Need, const std::vector<Alternative>& alternatives) override {
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    for (const Alternative& form : alternatives) {
      const auto key = found->find(form.key);
      if (key != found->end() && (form.value.empty() || *key == form.value))
        collect(*found, name, form.describe);
    }
  }

 private:
  void add(const std::string& name, Text doc, std::vector<double> tuple = {}) {
    found_.push_back({path_ + name, unit_of(doc), std::move(tuple)});
  }
  void add_tuples(Text name, std::size_t size, Text doc) {
    for (std::size_t i = 0; i < size_of(name); ++i)
      for (std::size_t k = 0; k < size; ++k) add(text(name, "[", i, "][", k, "]"), doc);
  }
  std::size_t size_of(Text name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? 0 : found->size();
  }
  void collect(const Json& object, const std::string& name, const Describe& describe) {
    PathCollector inner(object, text(path_, name, "."), found_);
    describe(inner);
  }

  const Json& object_;
  const std::string path_;
  std::vector<NumberPath>& found_;
};

Json::json_pointer pointer_to(const std::string& path) {
  std::string pointer = "/";
  for (const char c : path)
    if (c != ']') pointer += c == '.' || c == '[' ? '/' : c;
  return Json::json_pointer(pointer);
}

}  // namespace

std::vector<NumberPath> number_paths(const Json& object, const Keys::Describe& describe) {
  std::vector<NumberPath> found;
  PathCollector collector(object, "", found);
  describe(collector);
  return found;
}

const NumberPath& find_number(const std::vector<NumberPath>& numbers, const std::string& path,
                              const std::string& key) {
  std::vector<std::string> known;
  const std::string now = present_path(path);
  for (const NumberPath& number : numbers) {
    if (number.path == now) return number;
    known.push_back(number.path);
  }
  throw SceneError(text(key, ": unknown number \"", printable(path),
                        "\", expected the path of a number; the nearest is \"", nearest_name(path, known),
                        "\""));
}

void set_number(Json& object, const NumberPath& number, double value) {
  const Json::json_pointer at = pointer_to(number.path);
  if (!number.tuple.empty() && !object.contains(at.parent_pointer()))
    object[at.parent_pointer()] = number.tuple;
  // As a person would write it, for messages that quote it.
  const bool is_whole = value == std::floor(value) && std::abs(value) < 0x1p53;
  object[at] = is_whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace isocloth
