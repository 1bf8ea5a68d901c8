// Fits to what instruments read: cantilevers, hanging loops, drape.
#include <numbers>

#include "tests/run/fit_case.hpp"

namespace isocloth {
namespace {

constexpr double weight = 0.2 * 9.81, bending = 8e-6;  ///< [N/m^2], [N m]

/// theta'' = gamma (1 - s) cos theta + h sin theta from the clamp, s = 0, to s = 1, by the classical method
/// of Runge and Kutta: a strip under its weight (cantilever, h = 0), or half of a loop.
struct ElasticaEnd {
  double theta = 0, slope = 0, x = 0, z = 0;
};
ElasticaEnd integrate(double gamma, double h, double theta, double slope) {
  using State = std::array<double, 4>;
  const auto rate = [&](double s, const State& y) {
    return State{y[1], gamma * (1 - s) * std::cos(y[0]) + h * std::sin(y[0]), std::cos(y[0]), std::sin(y[0])};
  };
  const auto plus = [](const State& y, double d, const State& k) {
    return State{y[0] + d * k[0], y[1] + d * k[1], y[2] + d * k[2], y[3] + d * k[3]};
  };
  State y{theta, slope, 0, 0};
  const int parts = 400;
  const double d = 1.0 / parts;
  for (int i = 0; i < parts; ++i) {
    const double s = i * d;
    const State a = rate(s, y), b = rate(s + d / 2, plus(y, d / 2, a)),
                c = rate(s + d / 2, plus(y, d / 2, b)), e = rate(s + d, plus(y, d, c));
    for (std::size_t k = 0; k < 4; ++k) y[k] += d / 6 * (a[k] + 2 * b[k] + 2 * c[k] + e[k]);
  }
  return {y[0], y[1], y[2], y[3]};
}

/// Of the line from the clamp to the free end, below the horizontal [degrees]; gamma = w L^3 / B.
double cantilever_angle(double gamma) {
  double low = -gamma, high = 0;
  for (int i = 0; i < 60; ++i) {
    const double slope = (low + high) / 2;
    (integrate(gamma, 0, 0, slope).slope < 0 ? low : high) = slope;
  }
  const ElasticaEnd end = integrate(gamma, 0, 0, low);
  return std::atan2(-end.z, end.x) * 180 / std::numbers::pi;
}

/// From the clamp to the lowest point, over the whole length of the strip: theta(1) = -pi, x(1) = 0 by
/// Newton's method, the weight growing in 40 parts from nothing. gamma = w l^3 / B of half of the strip.
double loop_length(double gamma, bool is_pear) {
  const double begin = is_pear ? -std::numbers::pi / 2 : std::numbers::pi / 2;
  double h = is_pear ? 9.9 : -8.8, slope = is_pear ? 3 : -4.9;
  for (int part = 0; part <= 40; ++part) {
    for (int i = 0; i < 30; ++i) {
      const auto miss = [&](double at_h, double at_slope) {
        const ElasticaEnd end = integrate(gamma * part / 40, at_h, begin, at_slope);
        return std::array{end.theta + std::numbers::pi, end.x};
      };
      const double d = 1e-6;
      const auto r = miss(h, slope), u = miss(h + d, slope), v = miss(h, slope + d);
      const double a = (u[0] - r[0]) / d, b = (v[0] - r[0]) / d, c = (u[1] - r[1]) / d, e = (v[1] - r[1]) / d;
      const double det = a * e - b * c;
      h -= (e * r[0] - b * r[1]) / det;
      slope -= (a * r[1] - c * r[0]) / det;
      if (std::fabs(r[0]) + std::fabs(r[1]) < 1e-10) break;
    }
  }
  return -integrate(gamma, h, begin, slope).z / 2;
}

class FigureFit : public FitTest {
 protected:
  static Json source(const std::string& name) {
    return Json::parse(read_whole_file(fs::path(ISOCLOTH_SOURCE_DIR) / "bench" / "fits" / name));
  }
  /// A fit of bending to one rig of bending.json, whose strip has the length that it hangs with.
  Json rig(std::size_t experiment, double figure) const {
    Json plan = source("bending.json");
    plan["starts"] = 3;
    Json only = plan["experiments"][experiment];
    write_scene("rig.json", source(only["scene"]));
    only["scene"] = "rig.json";
    only["figures"]["file"] = "figures.json";
    only.erase("test");
    only.erase("train");
    write_scene("figures.json", {{only["figures"]["chords"][0]["name"].get<std::string>(), figure}});
    plan["experiments"] = Json::array({only});
    return plan;
  }
  /// What a rig of bending.json reads off the strip that its figures are those of.
  double reading(std::size_t experiment) const {
    Json plan = rig(experiment, 1);
    plan["parameters"][0]["value"] = bending;
    write_scene("fit.json", plan);
    const FitSpec spec = read_fit(folder_ / "fit.json");
    const ExecutionOptions options{.threads = 1};
    FitProblem problem(spec, options, Experiment::Source::recordings, [](std::int64_t, std::int64_t) {});
    const Eigen::VectorXd point = Eigen::VectorXd::Constant(1, problem.unknowns()[0].part_of(bending));
    return problem.compare({point}, 1, true)[0][0].reading.values[0];
  }
  static std::string all_notes(const FitRecord& record) {
    std::string notes;
    for (const std::string& note : record.notes) notes += note + "\n";
    return notes;
  }
};

// The elastica of no weight: Peirce 1930.
TEST(ElasticaLoops, HaveTheirKnownLengths) {
  EXPECT_NEAR(loop_length(0, true), 0.4243, 5e-5);
  EXPECT_NEAR(loop_length(0, false), 0.1337, 2e-4);
  // And half the overhang at 41.5 degrees is the bending length.
  EXPECT_NEAR(cantilever_angle(8), 41.5, 0.05);
}

// Strips of 63 edges, the heart's of 126; what is left goes with the square of their length.
TEST_F(FigureFit, RigsAreTheHeavyElastica) {
  const double half = weight * std::pow(0.05, 3) / bending;
  EXPECT_NEAR(reading(0) / cantilever_angle(weight * std::pow(0.032, 3) / bending), 1, 0.001);
  EXPECT_NEAR(reading(1) / (0.1 * loop_length(half, false)), 1, 0.003);
  EXPECT_NEAR(reading(2) / (0.1 * loop_length(half, true)), 1, 0.002);
}

TEST_F(FigureFit, FindsBendingByACantilever) {
  Json plan = rig(0, cantilever_angle(weight * std::pow(0.032, 3) / bending));
  plan["starts"] = 1;
  plan["parameters"][0]["value"] = 1.5 * bending;
  const FitRecord found = fit(plan);
  EXPECT_EQ(found.status, "completed") << found.rejection;
  EXPECT_NEAR(number(found, "fabric.bending_stiffness").value / bending, 1, 0.005);
  EXPECT_EQ(number(found, "fabric.bending_stiffness").verdict, Verdict::found);
  EXPECT_EQ(found.experiments[0].train.figures, 1u);
  EXPECT_LT(found.experiments[0].train.rms_figures, 0.05);
}

/// The disc of drape.json on a coarse mesh, and a fit of its bending to what a meter read.
class DrapeFit : public FigureFit {
 protected:
  void SetUp() override {
    FigureFit::SetUp();
    Json scene = source("rigs/drape_disc.json");
    scene["garments"][0]["mesh"]["radial"] = 9;
    scene["garments"][0]["mesh"]["around"] = 32;
    scene["step"] = 0.02;
    scene["duration"] = 2;
    write_scene("disc.json", scene);
  }
  static Json drape_fit() {
    return Json::parse(R"({
      "name": "drape", "starts": 4, "seed": 3,
      "parameters": [{"number": "fabric.bending_stiffness", "from": 5e-6, "to": 1e-4, "scale": "log", "value": 2e-5}],
      "experiments": [{"name": "meter", "scene": "disc.json",
                       "figures": {"file": "meter.json", "time": 2, "drape": {}}}]})");
  }
  Json read_off() const { return Json::parse(read_whole_file(folder_ / "meter.json")); }
};

TEST_F(DrapeFit, FindsBendingByCoefficientFoldsAndSilhouette) {
  simulate(drape_fit());
  Json seen = read_off();
  EXPECT_GT(seen["coefficient"].get<double>(), 0.3);
  EXPECT_LT(seen["coefficient"].get<double>(), 0.95);
  EXPECT_GT(seen["folds"].get<int>(), 2);
  EXPECT_EQ(seen["silhouette"].size(), 72u);
  const FitRecord found = fit(blind(drape_fit()));
  EXPECT_EQ(found.status, "completed") << found.rejection;
  // Its folds are uneven, those of the fit are not: no noise, but no other fabric either.
  EXPECT_NE(all_notes(found).find("silhouette: what is left is "), std::string::npos) << all_notes(found);
  // One reading has noise of 1 %, a tenth of the way from limp to stiff.
  EXPECT_NEAR(number(found, "fabric.bending_stiffness").value / 2e-5, 1, 0.1) << all_notes(found);
  EXPECT_EQ(found.experiments[0].fitted.reading.folds, seen["folds"].get<int>());
  EXPECT_EQ(found.experiments[0].train.figures, 73u);
  const Json record = Json::parse(read_whole_file(folder_ / "out" / "fit.json"));
  EXPECT_EQ(record["experiments"][0]["figures"][0]["recorded"], seen["coefficient"]);
  EXPECT_EQ(record["experiments"][0]["figures"][1]["name"], "folds");
  EXPECT_NE(read_whole_file(folder_ / "out" / "fit.html").find("shadow from above"), std::string::npos);
  // The coefficient alone: nothing tells bending from shear.
  seen.erase("silhouette");
  write_scene("meter.json", seen);
  Json both = blind(drape_fit());
  both["parameters"].push_back(
      {{"number", "fabric.shear_stiffness"}, {"from", 15}, {"to", 200}, {"scale", "log"}, {"value", 50}});
  fs::remove_all(folder_ / "out");
  expect_refused(both, "found 1 numbers in the training windows for 2 unknowns");
}

TEST_F(DrapeFit, RefusesWhatCannotBe) {
  simulate(drape_fit());
  const Json good = read_off();
  const auto with = [&](const std::string& key, const Json& value, const std::string& expected) {
    Json bad = good;
    bad[key] = value;
    write_scene("meter.json", bad);
    fs::remove_all(folder_ / "out");
    expect_refused(blind(drape_fit()), expected);
  };
  with("coefficient", 55.3, "meter.json: coefficient: found 55.3, expected a number from 0 to 1");
  with("folds", 5.5, "meter.json: folds: found 5.5, expected a whole number");
  with("silhouete", 1, "the nearest is \"silhouette\"");
  Json far = good["silhouette"];
  for (Json& point : far) point = {1000 * point[0].get<double>(), 1000 * point[1].get<double>()};
  with("silhouette", far, "are they in metres?");
  with("silhouette", Json::array({{0.1, 0}, {0, 0.1}, {-0.1, 0}}),
       "found 3 points that do not go once around");
  write_scene("meter.json", {{"folds", 5}});
  expect_refused(blind(drape_fit()), "coefficient: found none and no silhouette");
  write_scene("meter.json", good);
  const auto plan_with = [&](const std::string& pointer, const Json& value, const std::string& expected) {
    Json plan = blind(drape_fit());
    plan[Json::json_pointer("/experiments/0" + pointer)] = value;
    expect_refused(plan, expected);
  };
  plan_with("/figures/drape/disc", 0.2, "drape.disc: found 0.2, expected a radius beyond which");
  plan_with("/train", {0, 1}, "figures.time: found 2, expected a time in the window");
  plan_with("/figures/chords", {{{"name", "a"}, {"nodes", {0, 9000}}}},
            "found 9000, expected a node of the mesh");
  plan_with("/figures/chords", {{{"name", "folds"}, {"nodes", {0, 1}}}},
            "expected a name that no other figure has");
  plan_with("/figures/chords", {{{"name", "a"}, {"nodes", {1, 1}}}}, "expected two different ones");
  plan_with("/lead_in", 1, "lead_in: found 1 without positions or forces");
  plan_with("/figures/file", "other.json", "other.json");
}

}  // namespace
}  // namespace isocloth
