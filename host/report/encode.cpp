#include "host/report/encode.hpp"

namespace isocloth {

std::string encode_base64(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((count + 2) / 3 * 4);
  for (std::size_t i = 0; i < count; i += 3) {
    const std::size_t have = count - i < 3 ? count - i : 3;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < have ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= have ? digits[word >> (18 - 6 * k) & 63u] : '=';
  }
  return text;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string escape_json_for_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

}  // namespace isocloth
