// Commands of models beside the core; in the place of one that is taken out stands missing_command().
#include "host/app/model_command.hpp"
#include "host/models/drape/command/drape_command.hpp"
#include "host/models/particles/command/minimise_command.hpp"

namespace isocloth {

std::unique_ptr<ModelCommand> drape_command() { return make_drape_command(); }
std::unique_ptr<ModelCommand> minimise_command() { return make_minimise_command(); }

}  // namespace isocloth
