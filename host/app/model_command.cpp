#include "host/app/model_command.hpp"

#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/models.hpp"

namespace isocloth {
namespace {

class MissingCommand final : public ModelCommand {
 public:
  MissingCommand(std::string what, std::string option) : what_(std::move(what)), option_(std::move(option)) {}

  void add_options(CLI::App& command) override {
    if (option_.empty())
      command.allow_extras();
    else
      command.add_option(option_, asked_, "not in this build");
  }
  bool is_chosen() const override { return option_.empty() || !asked_.empty(); }
  int run(const SharedOptions&) override {
    throw SceneError(not_in_this_build(asked_.empty() ? what_ : text(what_, ' ', asked_)));
  }

 private:
  const std::string what_, option_;
  std::string asked_;
};

}  // namespace

std::unique_ptr<ModelCommand> missing_command(const std::string& what, const std::string& option) {
  return std::make_unique<MissingCommand>(what, option);
}

}  // namespace isocloth
