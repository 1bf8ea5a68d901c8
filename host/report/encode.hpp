// Binary data and text as parts of an HTML page.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isocloth {

/// RFC 4648 base64 with padding.
std::string encode_base64(const std::uint8_t* bytes, std::size_t count);

/// The little-endian bytes of the values, as JavaScript's typed arrays read them.
template <class T>
std::string encode_base64(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little);
  return encode_base64(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T));
}

/// Text for HTML content and quoted attributes.
std::string escape_html(std::string_view text);

/// JSON text that is safe within <script>: "<" occurs in JSON only inside strings, where \u003c means the
/// same.
std::string escape_json_for_script(std::string_view json);

}  // namespace isocloth
