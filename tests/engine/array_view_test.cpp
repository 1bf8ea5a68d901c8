#include "engine/core/array_view.hpp"

#include <gtest/gtest.h>

namespace isocloth {
namespace {

TEST(ArrayView, SlicesReachFromTheFirstToBehindTheLast) {
  std::vector<int> values{1, 2, 3};
  const ArrayView<int> all(values);
  EXPECT_EQ(slice(all, 0, 3).size(), 3u);
  EXPECT_TRUE(slice(all, 3, 3).empty());
  EXPECT_TRUE(slice(ArrayView<int>{}, 0, 0).empty());
  slice(all, 1, 2)[0] = 7;
  EXPECT_EQ(values, (std::vector<int>{1, 7, 3}));
}

#ifndef NDEBUG
TEST(ArrayViewDeathTest, ChecksItsBoundsWhereAssertionsAreOn) {
  const std::vector<int> values{1, 2, 3};
  const ArrayView<const int> all(values);
  EXPECT_DEATH(all[3], "i < size_");
  EXPECT_DEATH(all[static_cast<std::size_t>(Index{-1})], "i < size_");
  EXPECT_DEATH(ArrayView<const int>{}[0], "i < size_");
  EXPECT_DEATH(slice(all, 2, 4), "end <= all.size");
  EXPECT_DEATH(slice(all, 2, 1), "begin <= end");
  EXPECT_DEATH(slice(slice(all, 0, 2), 0, 3), "end <= all.size");
}
#endif

}  // namespace
}  // namespace isocloth
