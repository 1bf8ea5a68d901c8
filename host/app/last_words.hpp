// What the command says where nothing can be caught any more.
#pragma once

namespace isocloth {

/// Exit code of bad input or output, and of a machine without room for the program.
inline constexpr int exit_input = 2;

/// Has a program that would be aborted (no memory for an exception, or an exception in a thread) end with one
/// line on standard error and exit_input instead. Called before the constructors of other files.
void say_last_words() noexcept;

}  // namespace isocloth
