// What the command says where nothing can be caught any more.
#pragma once

namespace isocloth {

/// Has a program that would be aborted for want of memory (for an exception, or in a thread, which may not
/// throw) end with one line on standard error and exit_input instead. Whatever else nobody caught is said to
/// be a fault of the program, which aborts. Called before the constructors of other files.
void say_last_words() noexcept;

}  // namespace isocloth
