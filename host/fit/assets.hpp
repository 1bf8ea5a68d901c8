// The text files that make the page of a fit, put into the library by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace isocloth::assets {

extern const std::string_view fit_page_css, fit_player_js;

}  // namespace isocloth::assets
