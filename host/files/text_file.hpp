// Whole files in and out of memory, every system call checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/core/shortest.hpp"

namespace isocloth {

/// Throws FileError naming the path unless it is a regular file, without opening it: reading a pipe, a socket
/// or a device could block or never end.
void require_regular_file(const std::filesystem::path& path);

/// Largest files that are read: texts are kept in memory whole, trees of JSON take ten times their text.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{2} << 30,
                                largest_json = std::uintmax_t{256} << 20;

/// The bytes of a file; throws FileError naming the path when it is missing, no regular file, unreadable or
/// longer than `most` bytes.
std::string read_whole_file(const std::filesystem::path& path, std::uintmax_t most = largest_file);

/// The text behind a byte-order mark of UTF-8, if it begins with one: every reader of texts begins here.
/// Throws FileError naming `source` for text of UTF-16 or UTF-32, whose bytes mean something else.
std::string_view without_mark(std::string_view content, const std::string& source);

/// Creates or replaces a file; throws FileError naming the path (no permission, no folder, disk full) and
/// leaves no partial file behind.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

/// Text without control characters and at most `limit` bytes long, for quoting a file's content in a message:
/// valid UTF-8, whole characters only, ? for each byte that belongs to none.
std::string printable(std::string_view bytes, std::size_t limit = 60);

/// A word of a file that is plainly of its format, in quotes, at most 20 bytes of it.
std::string quoted_word(std::string_view word);

/// The finite number that the whole of `word` spells (a leading + is allowed), else false.
bool parse_finite(std::string_view word, double& value);

}  // namespace isocloth
