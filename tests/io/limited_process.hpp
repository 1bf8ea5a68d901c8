// Actions in a process of their own: with a limit on file sizes, which is how a full disk looks, or killed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace isocloth {

/// What `action` reported as an exception's message ("" if none) when no file could grow beyond `bytes`;
/// fails the test when the process did not end by itself with status 0.
template <class Action>
std::string message_with_file_limit(rlim_t bytes, const Action& action) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  std::fflush(nullptr);  // or the child writes the parent's buffered output again
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string message;
    try {
      action();
    } catch (const std::exception& error) {
      message = error.what();
    }
    const bool sent = write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    // Runs the exit handlers: the HDF5 library must survive them too.
    exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::string message;
  std::array<char, 512> block{};
  for (ssize_t count = 1; count > 0;) {
    count = read(ends[0], block.data(), block.size());
    if (count > 0) message.append(block.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the process ended with status " << status;
  return message;
}

/// Runs `action` in a process that is killed right after it.
template <class Action>
void run_and_kill(const Action& action) {
  std::fflush(nullptr);  // or the child writes the parent's buffered output again
  const pid_t child = fork();
  if (child == 0) {
    action();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace isocloth
