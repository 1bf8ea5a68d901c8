// The rigs of data sheets: fabrics by their KES and FAST figures, tested as the sheets' instruments would.
#pragma once

#include <string>
#include <vector>

#include "bench/report.hpp"
#include "engine/material/fast_sheet.hpp"
#include "engine/material/kes_sheet.hpp"

namespace isocloth::bench {

/// A figure as it stands on a sheet, and as a virtual rig reads it off the fabric that is made from the
/// sheet.
struct SheetFigure {
  std::string name;
  double sheet = 0, rig = 0;
};

/// EMT [%], LT and B [gf cm^2/cm] of both threads, G [gf/(cm degree)]: a tester of 5 cm between jaws of 20
/// cm, sheared by 0.5 to 2.5 degrees, and a cantilever.
std::vector<SheetFigure> test_kes(const KesSheet& sheet);
/// E5, E20, E100 [%] and C [mm] of both threads, EB5 [%]: strips of 10 x 5 cm between jaws, on the bias
/// also narrower and wider ones, and a cantilever at 41.5 degrees.
std::vector<SheetFigure> test_fast(const FastSheet& sheet);

/// Both of the suitings below, beside each other.
Table sheet_table();

/// Sheets of a suiting, made up within the ranges of worsted cloth.
extern const KesSheet kes_suiting;
extern const FastSheet fast_suiting;

}  // namespace isocloth::bench
