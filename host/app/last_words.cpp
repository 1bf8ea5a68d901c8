#include "host/app/last_words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "host/app/exit_codes.hpp"

namespace isocloth {
namespace {

/// Whether memory ran out, by the exception that nobody caught; there is none where there was no memory for
/// it.
bool is_want_of_memory() {
  if (!std::current_exception()) return true;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::system_error&) {  // no room for a thread
    return true;
  } catch (...) {
    return false;
  }
}

void say(std::string_view line) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

[[noreturn]] void last_words() {
  // Nothing here may allocate.
  if (!is_want_of_memory()) {
    say("isocloth: an error of the program itself, which no scene or file should cause: please report it "
        "with them\n");
    std::abort();
  }
  constexpr std::string_view line =
      "isocloth: ended for want of memory; allow more (ulimit -v), end other programs, or make the scene "
      "smaller. What a "
      "run has written so far stays beside its output: run it again with --resume\n";
  say(line);
  ::_exit(exit_input);
}

}  // namespace

void say_last_words() noexcept { std::set_terminate(last_words); }

}  // namespace isocloth

// Before the constructors of libraries' headers, which may throw.
[[gnu::constructor(101)]] static void before_constructors() { isocloth::say_last_words(); }
