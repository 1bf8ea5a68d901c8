#include "host/files/json_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/error_text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t message_limit = 300;

/// Builds the tree from what the parser finds, in time that grows with the text alone: the library's own
/// builder looks through all that a list or an object has so far whenever one more is added.
class TreeBuilder {
 public:
  TreeBuilder(Json& root, const std::string& source) : root_(root), source_(source) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() {
    require_distinct_keys();
    return close();
  }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    open_.back().key = std::move(name);
    return true;
  }

  template <class Error>
  bool parse_error(std::size_t, const std::string&, const Error& error) {
    throw error;
  }

  /// Path of the value that is read now, as garments[0].fabric.bending_stiffness; empty before the first key.
  std::string path() const {
    std::string path;
    for (const Open& open : open_)
      path += open.value->is_array() ? text("[", open.value->size() - (&open == &open_.back() ? 0 : 1), "]")
                                     : (path.empty() || open.key.empty() ? "" : ".") + open.key;
    return path;
  }

 private:
  /// A list or object that has not ended.
  struct Open {
    Json* value;
    std::string key = {};  ///< key of the member that is read
  };

  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Open& open = open_.back();
    if (open.value->is_array()) {
      auto& list = open.value->get_ref<Json::array_t&>();
      list.push_back(std::move(value));
      return &list.back();
    }
    // Past the search for a key of the same name, which was made.
    auto& members = open.value->get_ref<Json::object_t&>();
    members.emplace_back(open.key, std::move(value));
    return &members.back().second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= max_depth)
      throw SceneError(
          text(source_, ": found brackets nested deeper than ", max_depth, ", expected a flatter file"));
    open_.push_back({place(std::move(value))});
    return true;
  }
  void require_distinct_keys() {
    const auto& members = open_.back().value->get_ref<const Json::object_t&>();
    std::vector<std::string_view> keys(members.size());
    std::ranges::transform(members, keys.begin(),
                           [](const auto& member) { return std::string_view(member.first); });
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice == keys.end()) return;
    open_.back().key = *twice;
    throw SceneError(
        text(source_, ": found the key ", printable(path()), " twice in one object, expected once"));
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& root_;
  const std::string& source_;
  std::vector<Open> open_;
};

/// What the library says of a syntax error without the text that it read last, which may be of a file that is
/// no JSON at all.
std::string without_content(std::string_view what) {
  constexpr std::string_view read = "; last read: '", expected = "'; expected ";
  const std::size_t begin = what.find(read);
  if (begin == std::string_view::npos) return std::string(what);
  const std::size_t end = what.rfind(expected);
  return text(what.substr(0, begin),
              end != std::string_view::npos && end > begin ? what.substr(end + 1) : "");
}

/// The word that other programs write for a number that is not finite, where `rest` begins with or within
/// one.
std::string_view not_finite(std::string_view before, std::string_view rest) {
  for (const std::string_view word : {"-Infinity", "Infinity", "NaN", "-inf", "inf", "nan"}) {
    const std::size_t begin = before.find_last_of(" \n\t\r:,[");
    std::string_view found = before.substr(begin == std::string_view::npos ? 0 : begin + 1);
    if (std::string(found).append(rest.substr(0, word.size())).starts_with(word)) return word;
  }
  return {};
}

}  // namespace

Json read_json(const std::filesystem::path& path) {
  return within_memory_of(path.string(),
                          [&] { return parse_json(read_whole_file(path, largest_json), path.string()); });
}

Json parse_json(std::string_view content, const std::string& source) {
  content = without_mark(content, source);
  Json root;
  TreeBuilder builder(root, source);
  const auto at_key = [&] {
    const std::string path = builder.path();
    return path.empty() ? path : text(", at ", printable(path));
  };
  try {
    Json::sax_parse(content, &builder);
    return root;
  } catch (const Json::parse_error& error) {
    const std::size_t offset = std::min(error.byte > 0 ? error.byte - 1 : 0, content.size());
    const std::string_view before = content.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    std::string_view what = error.what();
    // The library's own position and number come first, up to the colon.
    const std::size_t colon = what.find(": ");
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    const std::string_view word = not_finite(before, content.substr(offset));
    throw SceneError(text(source, ":", line, ":", column, ": ",
                          word.empty() ? printable(without_content(what), message_limit)
                                       : text("found ", word, ", expected a finite number"),
                          at_key()));
  } catch (const Json::exception& error) {
    std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
    throw SceneError(text(source, ": ", printable(what, message_limit), at_key()));
  }
}

}  // namespace isocloth
