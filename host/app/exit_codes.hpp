// What the command returns; host/app/main.cpp says when.
#pragma once

namespace isocloth {

/// exit_input: of bad input or output, and of a machine without room for the program.
inline constexpr int exit_done = 0, exit_violated = 1, exit_input = 2, exit_interrupted = 130;

}  // namespace isocloth
