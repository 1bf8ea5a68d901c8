// Tails and quantiles that tests of residuals ask for.
#pragma once

namespace isocloth {

/// P(chi^2 >= value) for chi^2 of that many degrees of freedom, > 0, not necessarily whole: the regularised
/// upper incomplete gamma function Q(degrees / 2, value / 2); beyond 10^4 degrees by Wilson and Hilferty's
/// transform to a normal number (1931), which is off by less than 1e-6 there.
double chi_square_tail(double value, double degrees);

/// P(Z >= z) of a standard normal number.
double normal_tail(double z);

/// t with P(|T| <= t) = 0.95, of Student's distribution with that many degrees of freedom, >= 1, not
/// necessarily whole; 1.96 where they are infinite.
double student_95(double degrees);

}  // namespace isocloth
