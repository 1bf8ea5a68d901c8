#include "host/scene/drape_keys.hpp"

namespace isocloth {

void describe_initial(Keys& keys, InitialSpec& initial) {
  const auto form = [&initial](DrapeMethod method, const char* name, const char* doc,
                               void (*describe)(Keys&, DrapeSettings&)) {
    return Keys::Alternative{"drape", name, doc, [&initial, method, describe](Keys& k) {
                               DrapeSettings settings{.method = method};
                               describe(k, settings);
                               k.vectors("places", initial.positions,
                                         "where the pinned nodes hang at the start, in the order of pins and "
                                         "their nodes [m]; default: where they are in the rest shape",
                                         Need::optional);
                               initial.drape = settings;
                             }};
  };
  keys.one_of("initial",
              "shape at the start: cloth that hangs from its pins, by geometry alone; selectors of pins mean "
              "the rest "
              "shape all the same; default: the rest shape",
              Need::optional,
              {form(
                   DrapeMethod::weil, "weil",
                   "a flat, convex sheet by catenaries between its pins, then lengths relaxed (Weil 1986)",
                   +[](Keys& k, DrapeSettings& settings) {
                     k.number("resolution", settings.resolution, not_negative,
                              "triangles are divided down to this [m]; 0: half an element");
                     k.flag("angles", settings.angles,
                            "angles between crossing threads are relaxed, too, by the diagonals of quads");
                     k.number("least_angle", settings.least_angle, {.least = 0, .most = 180},
                              "between the edges of a thread at a node [degrees]; 0: any");
                   }),
               form(
                   DrapeMethod::laplace, "laplace",
                   "a sheet with one rim: catenaries along it from pin to pin, Laplace's equation inside "
                   "(Karthikeyan, Ranganathan 1998)",
                   +[](Keys& k, DrapeSettings& settings) {
                     k.flag("diagonals", settings.diagonals,
                            "catenaries between all pins of the rim, too; a flat, convex sheet");
                   })});
}

}  // namespace isocloth
