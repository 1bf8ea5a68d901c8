#include "host/sweep/watchdog.hpp"

#include <gtest/gtest.h>

namespace isocloth {
namespace {

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 5000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Watchdog, StopsWhatTakesTooLongAndTakesItBack) {
  Monitor monitor;
  {
    Watchdog watchdog(monitor, 0.01);
    wait_for(monitor.stop);
    EXPECT_TRUE(monitor.stop);
    EXPECT_TRUE(watchdog.has_expired());
  }
  EXPECT_FALSE(monitor.stop);
}

TEST(Watchdog, WaitsForAsLongAsIsAsked) {
  Monitor monitor;
  for (const double seconds : {0.0, 1e9, 1e11, 1e300}) {
    Watchdog watchdog(monitor, seconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(monitor.stop) << seconds;
    EXPECT_FALSE(watchdog.has_expired()) << seconds;
  }
}

TEST(Watchdog, LeavesWhatTheUserStopped) {
  Monitor monitor;
  monitor.stop = true;
  {
    Watchdog watchdog(monitor, 0.001);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(watchdog.has_expired());
  }
  EXPECT_TRUE(monitor.stop);
}

}  // namespace
}  // namespace isocloth
