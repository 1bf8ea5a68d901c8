// The command `rest` by energies of particles (--recipe).
#pragma once

#include <memory>

#include "host/app/model_command.hpp"

namespace isocloth {

/// The command `rest` by energies of particles (--recipe): minimises them and says how it ended, as JSON if
/// asked.
std::unique_ptr<ModelCommand> make_minimise_command();

}  // namespace isocloth
