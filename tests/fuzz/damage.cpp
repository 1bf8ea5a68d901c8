#include <algorithm>

#include "engine/core/text.hpp"
#include "tests/fuzz/mutations.hpp"

namespace isocloth {
namespace {

std::vector<std::string> lines_of(const std::string& bytes) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size() - 1) + 1;
    lines.push_back(bytes.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string bytes;
  for (const std::string& line : lines) bytes += line;
  return bytes;
}

std::string damage_lines(std::string& bytes, Choice& choice) {
  std::vector<std::string> lines = lines_of(bytes);
  const std::size_t at = choice.below(lines.size());
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  std::string what;
  switch (choice.below(4)) {
    case 0:
      lines.erase(place);
      what = "leave out";
      break;
    case 1:
      lines.insert(place, *place);
      what = "repeat";
      break;
    case 2:
      std::swap(*place, lines[choice.below(lines.size())]);
      what = "exchange";
      break;
    default:
      lines.insert(place, choice.of<std::string>({"\n", "garbage\n", "f 1 2\n", "f 1 2 3 4 5\n", "f 1 1 2\n",
                                                  "v 1 2\n", "v nan 0 0\n", "f 0 1 2\n", "f -99 -1 -2\n",
                                                  "f 99999999999 1 2\n", "1,2,3\n", "\t\n",
                                                  std::string(100000, '1') + "\n"}));
      what = "insert before";
  }
  bytes = joined(lines);
  return text(what, " line ", at + 1);
}

/// Puts another word where a number stands.
std::string damage_number(std::string& bytes, Choice& choice) {
  const char* digits = "0123456789";
  const std::size_t begin = bytes.find_first_of(digits, choice.below(bytes.size()));
  if (begin == std::string::npos) return "no number";
  const std::size_t end = std::min(bytes.find_first_not_of("0123456789.eE+-", begin), bytes.size());
  const std::string word = choice.of<std::string>({"nan", "inf", "-1", "0", "1e308", "1e999", "1e-320", "1e9",
                                                   "", "x", "0x10", "4294967296", "-9223372036854775808",
                                                   "18446744073709551616", "1,5", "1e5", "-1e5", "0.000001"});
  bytes.replace(begin, end - begin, word);
  return text("number at byte ", begin, " becomes \"", word, "\"");
}

}  // namespace

std::string damage(std::string& bytes, Choice& choice) {
  if (bytes.empty()) return "an empty file";
  const std::size_t at = choice.below(bytes.size());
  switch (choice.below(10)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << choice.below(8)));
      return text("flip a bit of byte ", at);
    case 1:
      bytes.resize(at);
      return text("cut after ", at, " bytes");
    case 2:
      bytes.insert(at, choice.of<std::string>({std::string(1, '\0'), "\xff\xfe", "\xc3", "\xed\xa0\x80",
                                               "\xef\xbb\xbf", "\xf0\x9f\x92\xa5", "\r", "\x1b[31m",
                                               "\xe2\x80\xae", "\"", "{", "]"}));
      return text("insert characters before byte ", at);
    case 3: {
      const std::size_t count = std::min(bytes.size() - at, 1 + choice.below(16));
      bytes.erase(at, count);
      return text("leave out ", count, " bytes from ", at);
    }
    case 4: {
      for (std::size_t i = at; i < std::min(bytes.size(), at + 8); ++i)
        bytes[i] = static_cast<char>(choice.below(256));
      return text("8 random bytes from ", at);
    }
    case 5:
      if (choice.happens(0.7)) return damage_number(bytes, choice);
      bytes.clear();
      return "empty";
    case 6:
    case 7:
      return damage_lines(bytes, choice);
    default:
      return damage_number(bytes, choice);
  }
}

std::string damage_in_place(std::string& bytes, Choice& choice) {
  if (choice.happens(0.2)) return damage(bytes, choice);
  const std::size_t at = choice.below(bytes.size());
  const std::size_t count = std::min(bytes.size() - at, choice.of<std::size_t>({1, 4, 16, 512}));
  const bool to_zero = choice.happens(0.2);
  for (std::size_t i = at; i < at + count; ++i) {
    if (count == 1)
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << choice.below(8)));
    else
      bytes[i] = to_zero ? '\0' : static_cast<char>(choice.below(256));
  }
  return text(count, " other bytes from ", at);
}

}  // namespace isocloth
