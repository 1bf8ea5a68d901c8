// Units on the data sheets of Kawabata's and FAST instruments.
#pragma once

namespace isocloth {

constexpr double gf_per_cm = 0.980665;  ///< one gram-force per centimetre [N/m]

}  // namespace isocloth
