// What a person is told of errors that are not of the engine, and of memory that is not enough.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {

/// Whether memory was too small: std::bad_alloc, an array of more elements than there can be, or no room for
/// a thread.
bool is_of_memory(const std::exception& error);

/// One line for a person. Errors of the engine say it themselves, those of memory that it was not enough;
/// what is left no input should cause, and it says so beside what the library below had to say.
std::string error_sentence(const std::exception& error);

/// What work() returns. Where memory is not enough, throws FileError: `what` does not fit; what: a file's
/// name, or a key with what it asks for.
template <class Work>
auto within_memory_of(const std::string& what, const Work& work) {
  const auto refuse = [&what] {
    return FileError(what + ": does not fit into the memory of this machine or process; make it smaller");
  };
  try {
    return work();
  } catch (const std::exception& error) {
    if (!is_of_memory(error)) throw;
    throw refuse();
  }
}

}  // namespace isocloth
