// A build without the models beside the core: commands.
#include "host/app/model_command.hpp"

namespace isocloth {

std::unique_ptr<ModelCommand> drape_command() { return missing_command("the command drape", ""); }
std::unique_ptr<ModelCommand> minimise_command() { return missing_command("recipe", "--recipe"); }

}  // namespace isocloth
