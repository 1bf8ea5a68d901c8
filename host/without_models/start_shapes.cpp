// A build without the models beside the core: shapes at the start.
#include "host/scene/start_shape.hpp"

namespace isocloth {

DrapeFunction drape_function() { return nullptr; }

}  // namespace isocloth
