// Sweeps by the command, and their tables.
#pragma once

#include "tests/command/command_case.hpp"

namespace isocloth {

using Strings = std::vector<std::string>;
using Cells = std::vector<Strings>;

class SweepTest : public CommandTest {
 protected:
  Finished sweep(const std::string& output, Strings options) const {
    options.insert(options.begin(), {"sweep", "scene.json", "-o", output, "--quiet"});
    return isocloth(options);
  }
  void sweep_to_the_end(const std::string& output, const Strings& options,
                        const std::string& warnings = "") const {
    const Finished run = sweep(output, options);
    ASSERT_EQ(run.code, 0) << run.errors;
    EXPECT_EQ(run.errors, warnings);
  }
  std::string csv(const std::string& output) const { return read_whole_file(folder_ / output / "sweep.csv"); }
  Json record(const std::string& output) const {
    return Json::parse(read_whole_file(folder_ / output / "sweep.json"));
  }
  /// Lines of sweep.csv, each cut at its commas.
  Cells cells(const std::string& output) const {
    Cells rows(1, Strings(1));
    for (const char c : csv(output)) {
      if (c == '\n')
        rows.emplace_back(1);
      else if (c == ',')
        rows.back().emplace_back();
      else
        rows.back().back() += c;
    }
    rows.pop_back();
    return rows;
  }
};

}  // namespace isocloth
