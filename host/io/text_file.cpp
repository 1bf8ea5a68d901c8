#include "host/io/text_file.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw FileError(text(path.string(), ": cannot ", what, ": ", std::strerror(error)));
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string read_whole_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(path, "read", errno);
  std::string bytes;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) bytes.append(block, count);
  if (std::ferror(file.get())) fail(path, "read", errno);
  return bytes;
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
  std::string line(bytes.substr(0, limit));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return bytes.size() > limit ? line + "..." : line;
}

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

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
