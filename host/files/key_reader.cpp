// The reading side of a key description.
#include "host/files/key_reader.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

std::string describe_value(const Json& value) {
  if (value.is_array()) return text("a list of ", value.size());
  if (value.is_object()) return "an object";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Members of an object that are looked through one after the other.
constexpr std::size_t few = 50;

class KeyReader : public Keys {
 public:
  /// `path` of the object: "" at the top, else with a dot at its end.
  KeyReader(const Json& object, const std::string& source, const std::string& path)
      : object_(object), source_(source), path_(path) {
    if (object.size() > few)
      for (const auto& [key, value] : object.items()) members_.emplace(key, &value);
  }

  void number(Text name, double& value, const Range& range, Text, Need need) override {
    if (const Json* found = find(name, need)) value = read_number(*found, name, range);
  }

  void number(Text name, std::optional<double>& value, const Range& range, Text) override {
    if (const Json* found = find(name, Need::optional)) value = read_number(*found, name, range);
  }

  void tuple(Text name, std::span<double> values, const Range& range, Text, Need need) override {
    if (const Json* found = find(name, need)) read_tuple(*found, name, values, range);
  }

  void list(Text name, std::vector<double>& values, const Range& range, Text, Need need) override {
    const Json* const found = find(name, need);
    if (!found) return;
    if (!found->is_array()) refuse(name, *found, text("a list, each ", to_string(range)));
    values.assign(found->size(), 0);
    read_tuple(*found, name, values, range);
  }

  void vectors(Text name, std::vector<Vec3d>& values, Text, Need need) override {
    read_tuples<3>(name, "a list of [x, y, z]", values, need);
  }

  void points(Text name, std::vector<Vec2d>& values, Text, Need need) override {
    read_tuples<2>(name, "a list of [x, y]", values, need);
  }

  void string(Text name, std::string& value, Text, Need need) override {
    const Json* const found = find(name, need);
    if (!found) return;
    if (!found->is_string()) refuse(name, *found, "a text in quotes");
    value = found->get<std::string>();
    const bool is_line = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20; });
    if (!is_line) refuse(name, *found, "a text of one line without control characters");
  }

  void string_index(Text name, std::size_t& index, const std::vector<std::string>& words, Text) override {
    if (const Json* found = find(name, Need::optional)) index = read_word(*found, name, words);
  }

  void flag(Text name, bool& value, Text, Need need) override {
    const Json* const found = find(name, need);
    if (!found) return;
    if (!found->is_boolean()) refuse(name, *found, "true or false");
    value = found->get<bool>();
  }

  void object(Text name, Text, Need need, const Describe& describe) override {
    if (const Json* found = find(name, need)) read_object(*found, name, describe);
  }

  void objects(Text name, Text, std::size_t least_count,
               const std::function<void(Keys&, std::size_t)>& describe) override {
    const Json* const found = find(name, least_count > 0 ? Need::required : Need::optional);
    if (!found) return;
    if (!found->is_array()) refuse(name, *found, "a list of objects");
    if (found->size() < least_count) refuse(name, *found, text("at least ", least_count));
    for (std::size_t i = 0; i < found->size(); ++i) {
      read_object((*found)[i], text(name, "[", i, "]"), [&](Keys& keys) { describe(keys, i); });
    }
  }

  void one_of(Text name, Text, Need need, const std::vector<Alternative>& alternatives) override {
    const Json* const found = find(name, need);
    if (!found) return;
    if (!found->is_object()) refuse(name, *found, "an object");
    std::vector<std::string> choosers;  // distinct keys that tell the forms apart
    std::vector<std::string> present;
    for (const Alternative& alternative : alternatives) {
      if (std::find(choosers.begin(), choosers.end(), alternative.key) != choosers.end()) continue;
      choosers.push_back(alternative.key);
      if (found->contains(alternative.key)) present.push_back(alternative.key);
    }
    if (present.empty()) {
      if (!found->empty()) refuse_unknown(text(path_, name), found->begin().key(), choosers);
      fail(text(path_, name, ": found an empty object, expected ", one_of_words(choosers)));
    }
    if (present.size() > 1) {
      fail(text(path_, name, ": found both ", present[0], " and ", present[1], ", expected one of them"));
    }
    std::vector<std::string> values;
    const std::vector<Alternative>::const_iterator chosen = [&] {
      for (const Alternative& a : alternatives) {
        if (a.key == present[0]) values.push_back(a.value);
      }
      const std::string value =
          values[0].empty() ? ""
                            : values[read_word((*found)[present[0]], text(name, ".", present[0]), values)];
      return std::find_if(alternatives.begin(), alternatives.end(),
                          [&](const Alternative& a) { return a.key == present[0] && a.value == value; });
    }();
    KeyReader reader(*found, source_, text(path_, name, "."));
    if (!chosen->value.empty()) reader.find(chosen->key, Need::required);
    chosen->describe(reader);
    reader.finish();
  }

  void members(Text name, Text, const std::function<void(Keys&, Text)>& describe) override {
    const Json* const found = find(name, Need::optional);
    if (!found) return;
    if (!found->is_object()) refuse(name, *found, "an object");
    KeyReader reader(*found, source_, text(path_, name, "."));
    for (const auto& member : found->items()) describe(reader, member.key());
  }

  /// Reports what the description did not name, then what it missed: a misspelt key is both.
  void finish() const {
    const std::unordered_set<std::string_view> known(known_.begin(), known_.end());
    for (const auto& [key, value] : object_.items()) {
      if (!known.contains(key)) {
        refuse_unknown(path_.substr(0, path_.empty() ? 0 : path_.size() - 1), key, known_);
      }
    }
    if (!missing_.empty()) fail(text(path_, missing_, ": not found, expected this key; add it"));
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw SceneError(source_.empty() ? message : text(source_, ": ", message));
  }

  [[noreturn]] void refuse(Text name, const Json& found, Text expected) const {
    fail(text(path_, name, ": found ", describe_value(found), ", expected ", expected));
  }

  [[noreturn]] void refuse_unknown(Text path, Text key, const std::vector<std::string>& known) const {
    fail(text(path, path.empty() ? "" : ": ", "unknown key \"", printable(key), "\"",
              known.empty() ? ""
                            : text(", expected ", one_of_words(known), "; the nearest is \"",
                                   nearest_name(key, known), "\"")));
  }

  static std::string one_of_words(const std::vector<std::string>& words) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
      all += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
    }
    return all;
  }

  const Json* find(Text name, Need need) {
    known_.push_back(name);
    if (object_.size() <= few) {
      if (const auto found = object_.find(name); found != object_.end()) return &*found;
    } else if (const auto found = members_.find(name); found != members_.end()) {
      return found->second;
    }
    if (need == Need::required && missing_.empty()) missing_ = name;
    return nullptr;
  }

  double read_number(const Json& found, Text name, const Range& range) const {
    if (!found.is_number()) refuse(name, found, to_string(range));
    const double value = found.get<double>();
    if (!range.contains(value)) refuse(name, found, to_string(range));
    return value;
  }

  /// Values: of Vec3d or Vec2d.
  template <std::size_t size, class Value>
  void read_tuples(Text name, const char* expected, std::vector<Value>& values, Need need) {
    const Json* const found = find(name, need);
    if (!found) return;
    if (!found->is_array()) refuse(name, *found, expected);
    values.clear();
    for (std::size_t i = 0; i < found->size(); ++i) {
      std::array<double, size> each{};
      read_tuple((*found)[i], text(name, "[", i, "]"), each, any_number);
      values.push_back(std::apply([](auto... x) { return Value{x...}; }, each));
    }
  }

  void read_tuple(const Json& found, Text name, std::span<double> values, const Range& range) const {
    if (!found.is_array() || found.size() != values.size()) {
      refuse(name, found, text("a list of ", values.size(), ", each ", to_string(range)));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = read_number(found[i], text(name, "[", i, "]"), range);
    }
  }

  std::size_t read_word(const Json& found, Text name, const std::vector<std::string>& words) const {
    if (!found.is_string()) refuse(name, found, one_of_words(words));
    const auto at = std::find(words.begin(), words.end(), found.get<std::string>());
    if (at == words.end()) {
      refuse(name, found,
             text(one_of_words(words), "; the nearest is \"", nearest_name(found.get<std::string>(), words),
                  "\""));
    }
    return static_cast<std::size_t>(at - words.begin());
  }

  void read_object(const Json& found, Text name, const Describe& describe) const {
    if (!found.is_object()) refuse(name, found, "an object");
    KeyReader reader(found, source_, text(path_, name, "."));
    describe(reader);
    reader.finish();
  }

  const Json& object_;
  /// Members by name, where they are more than a few: looking for one in object_ goes through all.
  std::unordered_map<std::string_view, const Json*> members_;
  const std::string source_;
  const std::string path_;
  std::vector<std::string> known_;
  std::string missing_;  // the first required key that was not there
};

}  // namespace

void read_root_keys(const Json& root, const std::string& source, const Keys::Describe& describe) {
  if (!root.is_object()) {
    throw SceneError(
        text(source, ": found ", describe_value(root), " at the top, expected an object in { }"));
  }
  KeyReader reader(root, source, "");
  describe(reader);
  reader.finish();
}

void read_object_keys(const Json& object, const std::string& path, const Keys::Describe& describe) {
  KeyReader reader(object, "", path + ".");
  describe(reader);
  reader.finish();
}

}  // namespace isocloth
