#include "host/files/json_text.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

constexpr int max_depth = 64;
constexpr std::size_t message_limit = 300;

/// Called by the parser for each key, bracket and value; knows where it is, and the keys of every open
/// object.
class Place {
 public:
  explicit Place(const std::string& source) : source_(source) {}

  void operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using enum Json::parse_event_t;
    if (depth > max_depth) {
      throw SceneError(
          text(source_, ": found brackets nested deeper than ", max_depth, ", expected a flatter file"));
    }
    if (event == object_start || event == array_start) open_.push_back({.is_array = event == array_start});
    if (event == object_end || event == array_end) open_.pop_back();
    if (event == key) add_key(parsed.get<std::string>());
    if (event == value || event == object_end || event == array_end)
      if (!open_.empty()) ++open_.back().index;
  }

  /// As garments[0].fabric.kappa; empty before the first key.
  std::string path() const {
    std::string path;
    for (const Open& open : open_)
      path += open.is_array ? text("[", open.index, "]")
                            : (path.empty() || open.last_key.empty() ? "" : ".") + open.last_key;
    return path;
  }

 private:
  struct Open {
    bool is_array = false;
    std::size_t index = 0;  ///< of the value that is being read
    std::set<std::string> keys = {};
    std::string last_key = {};
  };

  void add_key(const std::string& key) {
    Open& object = open_.back();
    object.last_key = key;
    if (!object.keys.insert(key).second)
      throw SceneError(
          text(source_, ": found the key ", printable(path()), " twice in one object, expected once"));
  }

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
  return parse_json(read_whole_file(path, largest_json), path.string());
}

Json parse_json(std::string_view content, const std::string& source) {
  Place place(source);
  const auto at_key = [&] {
    const std::string path = place.path();
    return path.empty() ? path : text(", at ", printable(path));
  };
  try {
    return Json::parse(content, [&place](int depth, Json::parse_event_t event, Json& parsed) {
      place(depth, event, parsed);
      return true;
    });
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
