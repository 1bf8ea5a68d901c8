// The text files that make the report page, put into the library by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace isocloth::assets {

extern const std::string_view page_html, page_css, format_js, data_js, cloth_js, obstacles_js, viewer_js,
    pattern_js, pictures_js, plots_js, figures_js, page_js;
extern const std::string_view three_js, orbit_controls_js, three_license_txt;

}  // namespace isocloth::assets
