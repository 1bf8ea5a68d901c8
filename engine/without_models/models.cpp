// A build without the models beside the core knows their names, to say what it lacks.
#include "engine/model/models.hpp"

namespace isocloth {

const Models& models() {
  static const Models none{.recipes = {},
                           .missing = {"bender_sle", "provot1995", "sakaguchi1991", "terzopoulos1987",
                                       "terzopoulos1987_implicit", "isometric_impulse"}};
  return none;
}

}  // namespace isocloth
