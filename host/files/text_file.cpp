#include "host/files/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw FileError(text(path.string(), ": cannot ", what, ": ", std::strerror(error)));
}

/// An open file, closed at the end.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// Length of the UTF-8 character that begins here, 0: none does.
std::size_t character_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const bool is_bad = (first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f) ||
                      (first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) > 0x8f);
  return is_bad ? 0 : length;
}

}  // namespace

void require_regular_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail(path, "read", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "read", EISDIR);
  if (S_ISREG(status.st_mode)) return;
  const char* const found = S_ISFIFO(status.st_mode)   ? "a pipe"
                            : S_ISSOCK(status.st_mode) ? "a socket"
                                                       : "a device";
  throw FileError(text(path.string(), ": found ", found, ", expected a file; write its content to one"));
}

std::string read_whole_file(const std::filesystem::path& path, std::uintmax_t most) {
  require_regular_file(path);
  // What became a pipe meanwhile must not block.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (file.number < 0) fail(path, "read", errno);
  const auto refuse_length = [&](std::uintmax_t found) {
    throw FileError(text(path.string(), ": found ", found, " bytes, expected at most ", most));
  };
  std::string bytes;
  struct stat status {};
  if (::fstat(file.number, &status) == 0 && status.st_size > 0) {
    if (static_cast<std::uintmax_t>(status.st_size) > most)
      refuse_length(static_cast<std::uintmax_t>(status.st_size));
    bytes.reserve(static_cast<std::size_t>(status.st_size));
  }
  char block[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.number, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, "read", errno);
    if (count == 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(count));
    if (bytes.size() > most) refuse_length(bytes.size());
  }
}

std::string_view without_mark(std::string_view content, const std::string& source) {
  if (content.starts_with("\xef\xbb\xbf")) return content.substr(3);
  const auto begins = [&](std::string_view bytes) { return content.starts_with(bytes); };
  // Without a mark, every other byte of what every format begins with is 0.
  const bool is_bare = content.size() > 1 && (content[0] == 0) != (content[1] == 0);
  if (begins("\xff\xfe") || begins("\xfe\xff") || begins(std::string_view("\0\0\xfe\xff", 4)) || is_bare)
    throw FileError(
        text(source, ": found a text of UTF-16 or UTF-32, expected UTF-8 or ASCII; save it as UTF-8"));
  return content;
}

void write_whole_file(const std::filesystem::path& path, std::string_view bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (!file) fail(path, "write", errno);
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0;
  const int error = errno;
  if (std::fclose(file) == 0 && written) return;
  const int close_error = errno;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  fail(path, "write", written ? close_error : error);
}

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string line;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes), taken = std::max<std::size_t>(length, 1);
    if (line.size() + taken > limit) return line + "...";
    const bool is_control = length == 1 && (static_cast<unsigned char>(bytes[0]) < 0x20 || bytes[0] == 0x7f);
    line += length == 0 ? "?" : is_control ? " " : bytes.substr(0, length);
    bytes.remove_prefix(taken);
  }
  return line;
}

std::string quoted_word(std::string_view word) { return text("\"", printable(word, 20), "\""); }

bool parse_finite(std::string_view word, double& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  // Too small for a double reads as zero, too large is refused.
  if (error == std::errc::result_out_of_range && end == word.data() + word.size()) {
    value = std::strtod(std::string(word).c_str(), nullptr);
    return std::isfinite(value);
  }
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
}

}  // namespace isocloth
