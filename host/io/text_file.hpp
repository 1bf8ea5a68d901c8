// Whole files in and out of memory, every system call checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace isocloth {

/// The bytes of a file; throws FileError naming the path when it is missing, a folder or unreadable.
std::string read_whole_file(const std::filesystem::path& path);

/// Creates or replaces a file; throws FileError naming the path (no permission, no folder, disk full) and
/// leaves no partial file behind.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

/// Text without control characters and at most `limit` bytes long, for quoting a file's content in a message.
std::string printable(std::string_view bytes, std::size_t limit = 60);

/// The shortest decimal text that reads back as the same number.
std::string shortest(double value);

/// The finite number that the whole of `word` spells (a leading + is allowed), else false.
bool parse_finite(std::string_view word, double& value);

}  // namespace isocloth
