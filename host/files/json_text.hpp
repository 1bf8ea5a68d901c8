// JSON text to a tree, stricter than the standard asks: a key twice in one object is an error.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace isocloth {

using Json = nlohmann::ordered_json;

/// Parses JSON; throws SceneError "SOURCE:LINE:COLUMN: ..." for a syntax error and "SOURCE: ..." for a
/// duplicate key, a number beyond double precision's range, or nesting deeper than 64.
Json parse_json(std::string_view content, const std::string& source);

/// Parses a JSON file of at most `largest_json` bytes as parse_json() does; throws FileError, too.
Json read_json(const std::filesystem::path& path);

}  // namespace isocloth
