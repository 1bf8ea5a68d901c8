// Programs in processes of their own: started, signalled, waited for, with what they printed.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace isocloth {

/// How a program ended: its exit code, or minus the signal that ended it.
struct Finished {
  int code = 0;
  std::string output, errors;  ///< standard output and standard error
};

/// For a command that sanitizers watch: a finding must not look like an exit code of the command, and the
/// HDF5 library leaks when it refuses a damaged file or meets a full disk.
std::vector<std::pair<std::string, std::string>> sanitizer_environment();

struct ProcessOptions {
  std::filesystem::path folder = {};  ///< where it runs; empty: where the test runs
  rlim_t file_size = RLIM_INFINITY;   ///< no file grows beyond: how a full disk looks [bytes]
  rlim_t memory = RLIM_INFINITY;      ///< address space [bytes]
  std::vector<std::pair<std::string, std::string>> environment =
      sanitizer_environment();             ///< set unless it is already
  std::filesystem::path output_file = {};  ///< standard output goes there instead of into Finished
};

/// A running program; killed if it still runs when this is destroyed.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const ProcessOptions& options = {})
      : output_(std::tmpfile()), errors_(std::tmpfile()) {
    if (!output_ || !errors_) throw std::runtime_error("cannot create temporary files");
    std::fflush(nullptr);  // or the child writes the parent's buffered output again
    pid_ = fork();
    if (pid_ == 0) start(arguments, options);
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
  }
  ~Process() {
    if (ended_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }

  bool is_running() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) != 0;
    return !ended_;
  }

  /// Waits until `condition` holds; fails the test when the program ends first or ten minutes pass.
  template <class Condition>
  bool wait_until(const Condition& condition) {
    for (const auto start = Clock::now(); Clock::now() - start < std::chrono::minutes(10);) {
      if (condition()) return true;
      if (!is_running()) {
        if (condition()) return true;  // it came to hold before the end
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "the program ended first or took too long: " << content(*errors_);
    return false;
  }

  /// Processor time that it has used so far [s]; 0 when it is gone.
  double processor_time() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string all((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(all.substr(std::min(all.size(), all.rfind(')') + 1)));
    std::string skipped;
    long user = 0, system = 0;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    fields >> user >> system;
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  Finished wait() {
    wait_until([this] { return !is_running(); });
    if (!ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status_, 0);
      ended_ = true;
    }
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_), content(*output_),
            content(*errors_)};
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void start(const std::vector<std::string>& arguments, const ProcessOptions& options) const {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    const int target =
        options.output_file.empty() ? fileno(output_.get()) : open(options.output_file.c_str(), O_WRONLY);
    bool ready = dup2(target, STDOUT_FILENO) >= 0 && dup2(fileno(errors_.get()), STDERR_FILENO) >= 0;
    ready = ready && (options.folder.empty() || chdir(options.folder.c_str()) == 0);
    if (options.file_size != RLIM_INFINITY) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{options.file_size, options.file_size};
      ready = ready && setrlimit(RLIMIT_FSIZE, &limit) == 0;
    }
    const rlimit memory{options.memory, options.memory};
    if (options.memory != RLIM_INFINITY) ready = ready && setrlimit(RLIMIT_AS, &memory) == 0;
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 0);
    if (ready) execv(pointers[0], pointers.data());
    _exit(98);
  }

  /// Leaves the place where the program writes next as it is.
  static std::string content(std::FILE& file) {
    std::string all;
    char block[4096];
    for (ssize_t count = 1; count > 0;) {
      count = pread(fileno(&file), block, sizeof block, static_cast<off_t>(all.size()));
      if (count > 0) all.append(block, static_cast<std::size_t>(count));
    }
    return all;
  }

  std::unique_ptr<std::FILE, CloseFile> output_, errors_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace isocloth
