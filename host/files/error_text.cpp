#include "host/files/error_text.hpp"

#include <filesystem>
#include <system_error>

#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {

bool is_of_memory(const std::exception& error) {
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::length_error*>(&error) != nullptr ||
         (system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                                system->code() == std::errc::not_enough_memory));
}

std::string error_sentence(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return printable(error.what(), 2000);
  if (is_of_memory(error))
    return "out of memory, though the scene fits; end other programs, allow this one more (ulimit -v), keep "
           "fewer "
           "frames (--frames-of) or simulate fewer garments at once (--batch of a sweep)";
  if (const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return printable(text(file->path1().string(), ": ", file->code().message()), 2000);
  return text(
      "an error of the program itself, which no scene or file should cause: please report it with them (",
      printable(error.what(), 300), ")");
}

}  // namespace isocloth
