// Whether a fit explains what was recorded.
#pragma once

#include <string>
#include <vector>

#include "host/fit/fit_record.hpp"

namespace isocloth {

/// What is left of every channel that the objectives take in: of training with tests of both kinds
/// (reject()), of test beside the start. `leverage`: of each channel of the problem, see channel_leverage().
std::vector<ChannelRecord> judge_channels(const FitProblem& problem,
                                          const std::vector<ExperimentRecord>& experiments,
                                          const std::vector<double>& leverage);

/// Why the recordings reject the model, with the channel that says so most clearly, and what to do; empty:
/// they do not. Where `is_determined`, all numbers are found or weak, a held-out recording that is off by
/// more than noise and by more than at the start rejects it, too.
std::string reject_model(const std::vector<ChannelRecord>& channels, const FitProblem& problem,
                         bool is_determined);

/// What else a reader should know of the channels, a line each.
std::vector<std::string> channel_notes(const std::vector<ChannelRecord>& channels, const FitProblem& problem,
                                       bool is_rejected);

/// "shear, force of moving clip".
std::string channel_name(const RecordedChannel& channel, const FitProblem& problem);

}  // namespace isocloth
