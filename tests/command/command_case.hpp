// The command in a folder of its own, and what must hold of its answers.
#pragma once

#include "tests/run/result_case.hpp"
#include "tests/support/subprocess.hpp"

namespace isocloth {

/// What a run says on standard error but for warnings of the scene.
inline std::string without_warnings(const std::string& errors) {
  std::string rest;
  for (std::size_t begin = 0; begin < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', begin), errors.size() - 1) + 1;
    const std::string line = errors.substr(begin, end - begin);
    if (line.rfind("isocloth: warning: ", 0) != 0) rest += line;
    begin = end;
  }
  return rest;
}

class CommandTest : public ResultTest {
 protected:
  /// Starts `isocloth ARGUMENTS` in the test's folder.
  Process start(std::vector<std::string> arguments, ProcessOptions options = {}) const;
  Finished isocloth(const std::vector<std::string>& arguments, const ProcessOptions& options = {}) const {
    return start(arguments, options).wait();
  }
  /// Runs a scene to its end, which it must reach; `code` 1: with steps that missed their tolerance.
  void complete(const std::string& scene, const std::string& output,
                const std::vector<std::string>& options = {}, int code = 0) const {
    std::vector<std::string> arguments{"run", scene, "-o", output, "--quiet", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished run = isocloth(arguments);
    ASSERT_EQ(run.code, code) << run.errors;
    EXPECT_EQ(run.errors, "");
  }

  /// One line on standard error that begins with "isocloth: " and contains `expected`, exit code 2; nothing
  /// is printed but the error of --json.
  static void expect_refused(const Finished& run, const std::string& expected) {
    EXPECT_EQ(run.code, 2) << run.errors;
    EXPECT_EQ(run.errors.rfind("isocloth: ", 0), 0U) << run.errors;
    EXPECT_EQ(line_count(run.errors), 1U) << run.errors;
    EXPECT_TRUE(run.errors.ends_with('\n')) << run.errors;
    EXPECT_NE(run.errors.find(expected), std::string::npos) << run.errors << "expected: " << expected;
    if (run.output.empty()) return;
    const Json error = Json::parse(run.output, nullptr, false);  // of --json
    EXPECT_TRUE(error.is_object() && error.contains("error") && error.value("exit_code", 0) == 2)
        << run.output;
  }
};

}  // namespace isocloth
