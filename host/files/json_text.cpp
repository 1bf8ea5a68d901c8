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

/// Called by the parser for each key and bracket; keeps the keys of every open object.
class DuplicateCheck {
 public:
  explicit DuplicateCheck(const std::string& source) : source_(source) {}

  void operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > max_depth) {
      throw SceneError(
          text(source_, ": found brackets nested deeper than ", max_depth, ", expected a flatter file"));
    }
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key) add_key(parsed.get<std::string>());
  }

 private:
  struct OpenObject {
    std::set<std::string> keys;
    std::string last_key;
  };

  void add_key(const std::string& key) {
    OpenObject& object = open_.back();
    if (!object.keys.insert(key).second) {
      std::string path;
      for (std::size_t i = 0; i + 1 < open_.size(); ++i) path += open_[i].last_key + ".";
      throw SceneError(
          text(source_, ": found the key ", printable(path + key), " twice in one object, expected once"));
    }
    object.last_key = key;
  }

  const std::string& source_;
  std::vector<OpenObject> open_;
};

}  // namespace

namespace {

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

}  // namespace

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_whole_file(path, largest_json), path.string());
}

Json parse_json(std::string_view content, const std::string& source) {
  DuplicateCheck check(source);
  try {
    return Json::parse(content, [&check](int depth, Json::parse_event_t event, Json& parsed) {
      check(depth, event, parsed);
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
    throw SceneError(
        text(source, ":", line, ":", column, ": ", printable(without_content(what), message_limit)));
  } catch (const Json::exception& error) {
    std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
    throw SceneError(text(source, ": ", printable(what, message_limit)));
  }
}

}  // namespace isocloth
