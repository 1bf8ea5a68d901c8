// Whether sanitizers watch: kernels take 10 to 50 times as long, and need to run each of their lines, not
// long.
#pragma once

namespace isocloth {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// What a test runs through: all of it, or under sanitizers the part that reaches the same lines.
template <class Amount>
constexpr Amount unless_sanitized(Amount all, Amount part) {
  return is_sanitized ? part : all;
}

}  // namespace isocloth
