// A model that does not explain the recordings is not found; one that does is.
#include "tests/run/rest_fit_case.hpp"

namespace isocloth {
namespace {

class FitVerdictTest : public RestFitTest {
 protected:
  /// Recordings of three rigs of cloth that stiffens in all its directions, as wool does.
  void simulate_curves() const {
    const Json warp{{"strain", {0.01, 0.02, 0.04}}, {"force", {4, 12, 50}}},
        weft{{"strain", {0.02, 0.04, 0.08}}, {"force", {4, 12, 50}}},
        shear{{"strain", {0.05, 0.1, 0.2}}, {"force", {1.2, 2.6, 6.5}}};
    write_rigs({{"curves", {{"warp", warp}, {"weft", weft}, {"shear", shear}}}}, "membrane");
    // A number that forces hardly depend on: all that is to be said is what the scenes do.
    Json made = scalars();
    made["parameters"] = {
        {{"number", "fabric.bending_stiffness"}, {"from", 1e-6}, {"to", 1e-4}, {"value", 2e-5}}};
    simulate(made);
  }
  Json scalars() const {
    Json all = plan(Json::array({stiffness("stretch_stiffness", 50, 5000, 800, 1),
                                 stiffness("weft_stretch_stiffness", 50, 5000, 300, 1),
                                 stiffness("shear_stiffness", 2, 200, 60, 1)}));
    for (Json& parameter : all["parameters"]) parameter.erase("stages");
    for (Json& experiment : all["experiments"]) experiment.erase("stages");
    all["search"] = "levenberg_marquardt";
    return all;
  }
  static std::string all_notes(const FitRecord& record) {
    std::string notes;
    for (const std::string& note : record.notes) notes += note + "\n";
    return notes;
  }
};

TEST_F(FitVerdictTest, RejectsOneStiffnessWhereClothStiffens) {
  simulate_curves();
  write_rigs(Json::object(), "membrane");
  const FitRecord found = fit(blind(scalars()));
  EXPECT_EQ(found.status, "model rejected");
  for (const FittedNumber& number : found.numbers) EXPECT_EQ(number.verdict, Verdict::model_rejected);
  EXPECT_NE(found.rejection.find("force of clip: what is left is "), std::string::npos) << found.rejection;
  EXPECT_NE(found.rejection.find(" times the stated noise of 0.01 N"), std::string::npos) << found.rejection;
  EXPECT_NE(found.rejection.find("forces[0].noise"), std::string::npos) << found.rejection;
  EXPECT_NE(found.rejection.find("curves in the place of one stiffness"), std::string::npos)
      << found.rejection;
  EXPECT_NE(all_notes(found).find("model rejected: "), std::string::npos);
  std::size_t rejected = 0;
  for (const ChannelRecord& channel : found.channels)
    if (channel.tests.is_rejected()) {
      ++rejected;
      EXPECT_TRUE(channel.channel.quantity == ChannelKind::forces || channel.tests.noise_factor > 1.2);
    }
  EXPECT_GE(rejected, 2u);
  const Json written = Json::parse(read_whole_file(folder_ / "out" / "fit.json"));
  EXPECT_EQ(written["status"], "model rejected");
  EXPECT_EQ(written["rejection"], found.rejection);
  EXPECT_EQ(written["parameters"][0]["verdict"], "model rejected");
  EXPECT_EQ(written["channels"].size(), 6u);
  const std::string page = read_whole_file(folder_ / "out" / "fit.html");
  EXPECT_NE(page.find("rejects the model"), std::string::npos);
}

TEST_F(FitVerdictTest, FindsTheSameNumbersOfClothThatDoesNotStiffen) {
  write_rigs(Json::object(), "membrane");
  const Json truth = scalars();
  int within = 0, count = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    Json made = truth;
    made["seed"] = seed;
    for (const char* kind : {"warp", "weft", "shear"}) {
      fs::remove(folder_ / (std::string(kind) + ".csv"));
      fs::remove(folder_ / (std::string(kind) + "_force.csv"));
    }
    simulate(made);
    const FitRecord found = fit(blind(made));
    EXPECT_EQ(found.status, "completed") << found.rejection;
    EXPECT_EQ(found.rejection, "");
    const double values[] = {800, 300, 60};
    for (std::size_t u = 0; u < 3; ++u) {
      EXPECT_EQ(found.numbers[u].verdict, Verdict::found)
          << describe(found.numbers[u]) << ", interval " << found.numbers[u].inflation << " times as wide";
      within += found.numbers[u].low <= values[u] && values[u] <= found.numbers[u].high;
      ++count;
    }
    for (const ChannelRecord& channel : found.channels) {
      EXPECT_FALSE(channel.tests.is_rejected());
      EXPECT_NEAR(channel.tests.noise_factor, 1, channel.channel.quantity == ChannelKind::forces ? 0.5 : 0.1);
    }
    EXPECT_EQ(found.left_out.size(), 3u);
  }
  EXPECT_GE(within, count - 3);  // of 15 at 95 %: less has a probability of 0.5 %
}

TEST_F(FitVerdictTest, TakesRecordingsWithoutNoise) {
  // The files say what the scene does, to the micrometre, and the stated noise is that of an instrument.
  write_rigs(Json::object(), "membrane");
  Json exact = scalars();
  for (Json& experiment : exact["experiments"]) {
    experiment["positions"]["noise"] = 1e-12;
    experiment["forces"][0]["noise"] = 1e-12;
  }
  simulate(exact);
  const FitRecord found = fit(blind(scalars()));
  EXPECT_EQ(found.status, "completed") << found.rejection;
  EXPECT_NEAR(number(found, "fabric.stretch_stiffness").value, 800, 1);
  EXPECT_NE(all_notes(found).find("times the stated noise, which hides errors of the model below it"),
            std::string::npos);
}

TEST_F(FitVerdictTest, SaysBothReadingsWhereTheStatedNoiseIsTooSmall) {
  write_rigs(Json::object(), "membrane");
  Json made = scalars();
  for (Json& experiment : made["experiments"]) experiment["forces"][0]["noise"] = 0.03;
  simulate(made);
  const FitRecord found = fit(blind(scalars()));
  EXPECT_EQ(found.status, "model rejected");
  EXPECT_NE(found.rejection.find("or the noise is larger than was stated: if it is known to be 0.0"),
            std::string::npos)
      << found.rejection;
}

TEST_F(FitVerdictTest, ForetellsEachRecordingByTheOthers) {
  write_rigs(Json::object(), "membrane");
  // Bias and warp say the warp; the weft rig alone says the weft.
  Json made = scalars();
  made["parameters"].erase(2);
  simulate(made);
  const FitRecord found = fit(blind(made));
  ASSERT_EQ(found.left_out.size(), 3u);
  EXPECT_EQ(found.left_out[1].experiment, 1u);
  EXPECT_EQ(found.left_out[1].kept, (std::vector<std::size_t>{1}));
  for (const LeftOut& left_out : found.left_out) {
    EXPECT_NEAR(left_out.noise_factor, 1, 0.2);
    EXPECT_GT(left_out.start_factor, left_out.fitted_factor);
    EXPECT_GE(left_out.noise_factor, left_out.fitted_factor * (1 - 1e-6));
  }
  const Json written = Json::parse(read_whole_file(folder_ / "out" / "fit.json"))["left_out"];
  EXPECT_EQ(written[1]["kept"][0], "fabric.weft_stretch_stiffness");
  Json without = blind(made);
  without["leave_one_out"] = false;
  EXPECT_TRUE(fit(without).left_out.empty());
}

TEST_F(FitVerdictTest, SaysWhereAHeldOutRecordingIsWorseThanAtTheStart) {
  // Trained where cloth is soft, held out where it is stiff; the start is the stiffness there.
  simulate_curves();
  write_rigs(Json::object(), "membrane");
  Json asked = blind(scalars());
  for (Json& experiment : asked["experiments"]) {
    experiment["train"] = {0.1, 0.4};
    experiment["test"] = {0.5, 1};
    experiment["objective"] = "forces";
  }
  asked["parameters"][0]["value"] = 1200;
  asked["parameters"][1]["value"] = 600;
  asked["parameters"][2]["value"] = 30;
  asked["starts"] = 1;
  const FitRecord found = fit(asked);
  std::size_t worse = 0;
  for (const ChannelRecord& channel : found.channels) worse += channel.is_worse;
  EXPECT_GE(worse, 1u);
  EXPECT_EQ(found.status, "model rejected");
  EXPECT_NE(found.rejection.find("held out: off by"), std::string::npos) << found.rejection;
}

}  // namespace
}  // namespace isocloth
