#include "host/app/last_words.hpp"

#include <unistd.h>

#include <exception>
#include <string_view>

namespace isocloth {
namespace {

[[noreturn]] void last_words() {
  // Nothing here may allocate.
  constexpr std::string_view line =
      "isocloth: ended for want of memory; allow more (ulimit -v), end other programs, or make the scene "
      "smaller. What a "
      "run has written so far stays beside its output: run it again with --resume\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(exit_input);
}

}  // namespace

void say_last_words() noexcept { std::set_terminate(last_words); }

}  // namespace isocloth

// Before the constructors of libraries' headers, which may throw.
[[gnu::constructor(101)]] static void before_constructors() { isocloth::say_last_words(); }
