// Fits to load cases at rest, in stages, with stiffnesses of control points; searches without derivatives.
#include <Eigen/Dense>
#include <cmath>

#include "host/fit/incremental_search.hpp"
#include "host/fit/search.hpp"
#include "tests/run/rest_fit_case.hpp"

namespace isocloth {
namespace {

TEST_F(RestFitTest, FindsFabricsOfEachModelFromNoisyRigs) {
  struct Known {
    const char* recipe;
    double warp, weft, shear;
  };
  for (const Known& known : {Known{"membrane", 800, 300, 25}, Known{"soft_constraints", 2000, 2000, 12},
                             Known{"springs", 150, 400, 60}}) {
    write_rigs(Json::object(), known.recipe);
    const Json truth = plan({stiffness("stretch_stiffness", 50, 5000, known.warp, 1),
                             stiffness("weft_stretch_stiffness", 50, 5000, known.weft, 2),
                             stiffness("shear_stiffness", 2, 200, known.shear, 3)});
    for (const char* kind : {"warp", "weft", "shear"}) {
      fs::remove(folder_ / (std::string(kind) + ".csv"));
      fs::remove(folder_ / (std::string(kind) + "_force.csv"));
    }
    simulate(truth);
    const FitRecord found = fit(blind(truth));
    EXPECT_EQ(found.status, "completed") << known.recipe;
    expect_found(found, "fabric.stretch_stiffness", known.warp, 0.03);
    expect_found(found, "fabric.weft_stretch_stiffness", known.weft, 0.03);
    expect_found(found, "fabric.shear_stiffness", known.shear, 0.03);
    EXPECT_NEAR(found.noise_factor, 1, 0.1) << known.recipe;
  }
}

TEST_F(RestFitTest, AddsControlPointsWhileTheyHelp) {
  // Warp stiffens tenfold, weft not at all.
  const Json curve{{"strain", {0.01, 0.02, 0.03, 0.04}}, {"force", {2, 6, 16, 36}}};
  const Json weft{{"strain", {0.1}}, {"force", {33}}};
  write_rigs({{"curves", {{"warp", curve}, {"weft", weft}}}, {"shear_stiffness", 25}}, "membrane");
  Json made = plan(Json::array({stiffness("shear_stiffness", 2, 200, 25, 3)}));
  made["parameters"][0].erase("stages");
  // As many samples as it takes to tell an unknown from what it takes up of noise.
  for (const char* kind : {"warp", "weft"}) {
    Json scene = Json::parse(read_whole_file(folder_ / (std::string(kind) + ".json")));
    scene["frame_interval"] = scene["step"] = 0.02;
    write_scene(std::string(kind) + ".json", scene);
  }
  simulate(made);
  write_rigs({{"shear_stiffness", 25}}, "membrane");
  Json asked = plan(Json::array());
  for (int k = 0; k < 2; ++k)
    asked["parameters"].push_back({{"number", k == 0 ? "fabric.curves.warp" : "fabric.curves.weft"},
                                   {"from", 0},
                                   {"to", 3000},
                                   {"points", 5},
                                   {"stages", {k + 1}}});
  asked["experiments"].erase(2);
  for (Json& experiment : asked["experiments"]) {
    experiment["stages"].erase(1);
    experiment["objective"] = "forces";
  }
  const FitRecord found = fit(asked);
  std::size_t warps = 0, wefts = 0;
  for (const FittedNumber& number : found.numbers)
    (number.unknown.path == "fabric.curves.warp" ? warps : wefts) += 1;
  EXPECT_GE(warps, 3u);
  EXPECT_EQ(wefts, 1u);
  EXPECT_LT(found.experiments[0].train.rms_force, 1.15 * std::sqrt(3) * 0.01);
  EXPECT_LT(found.experiments[1].train.rms_force, 1.15 * std::sqrt(3) * 0.01);
  // The scene with what was found has the forces that were recorded, to 3 % of their greatest.
  const Scene fitted = read_scene(folder_ / "out" / "fitted" / "warp.json");
  const std::vector<CurvePiece> law = thread_law(fitted.garments[0].fabric.curves.warp, 1),
                                truth = thread_law({{{0.01, 2}, {0.02, 6}, {0.03, 16}, {0.04, 36}}}, 1);
  for (const double d : {0.015, 0.025, 0.035}) {
    const double x = d * (2 + d);
    EXPECT_NEAR(response(law, x), response(truth, x), 0.03 * response(truth, 0.04 * 2.04)) << d;
  }
  // A fit that goes on keeps the control points.
  const FitRecord again = fit(asked, IfExists::resume);
  ASSERT_EQ(again.numbers.size(), found.numbers.size());
  for (std::size_t u = 0; u < found.numbers.size(); ++u)
    EXPECT_NEAR(again.numbers[u].value, found.numbers[u].value, 0.02 * found.numbers[u].value + 1);
}

TEST_F(RestFitTest, HasTheJacobianOfItsResiduals) {
  write_rigs(Json::object(), "membrane");
  Json made =
      plan({stiffness("stretch_stiffness", 50, 5000, 800, 1), stiffness("shear_stiffness", 2, 200, 25, 3)});
  made["parameters"].push_back({{"number", "fabric.curves.weft"},
                                {"from", 50},
                                {"to", 5000},
                                {"points", 1},
                                {"strain", {0.0, 0.06}},
                                {"value", 300}});
  made["experiments"][2]["forces"][0]["along"] = {0, 1, 0};
  simulate(made);
  write_scene("fit.json", made);
  const FitSpec spec = read_fit(folder_ / "fit.json");
  const ExecutionOptions one_thread{.threads = 1};  // the problem refers to them
  FitProblem problem(spec, one_thread, Experiment::Source::recordings, [](std::int64_t, std::int64_t) {});
  problem.set_controls(2, {0.0, 0.03, 0.06});
  ASSERT_EQ(problem.unknowns().size(), 5u);
  ASSERT_TRUE(problem.has_derivatives());
  const Eigen::VectorXd point = Eigen::VectorXd::Constant(5, 0.45);
  const Eigen::MatrixXd jacobian = problem.jacobian(point, 1, 0.01);
  const ResidualsAt at = [&](const std::vector<Eigen::VectorXd>& points) {
    return problem.residuals(points, 1);
  };
  const Eigen::MatrixXd differences = jacobian_at(at, point, 3e-5);
  ASSERT_EQ(jacobian.rows(), differences.rows());
  // One component of the sheared rig, three of the others; one each of ten samples.
  EXPECT_EQ(jacobian.rows(), 3 * 10 * 36 * 3 + 10 * (3 + 3 + 1));
  for (Eigen::Index u = 0; u < 5; ++u)
    EXPECT_LT((jacobian - differences).col(u).norm(), 1e-5 * differences.col(u).norm()) << u;
}

TEST_F(RestFitTest, FindsWhatMadeAMotionWithoutDerivatives) {
  write_shaken_scene();
  simulate(shaken_fit());
  for (const char* search : {"nelder_mead", "bobyqa", "gauss_newton"}) {
    Json asked = blind(shaken_fit());
    asked.update({{"search", search}, {"scans", false}});
    const FitRecord found = fit(asked);
    EXPECT_EQ(found.status, "completed") << search;
    expect_found(found, "fabric.mass_damping", 2.69, 0.03);
    expect_found(found, "fabric.gravity_density", 0.52, 0.03);
  }
  // The truth lies beyond the bounds.
  Json bounded = blind(shaken_fit());
  bounded["parameters"][0]["to"] = 1.5;
  for (const char* search : {"nelder_mead", "bobyqa", "gauss_newton"}) {
    bounded.update({{"search", search}, {"scans", false}});
    const FitRecord found = fit(bounded);
    for (const FitStep& step : found.history) EXPECT_LE(step.values[0], 1.5 * (1 + 1e-12)) << search;
    EXPECT_EQ(number(found, "fabric.mass_damping").verdict, Verdict::at_its_bound) << search;
  }
}

TEST(DirectSearch, FindsTheLeastOfOneNumberAndOfSome) {
  for (const Search method : {Search::nelder_mead, Search::bobyqa})
    for (const Eigen::Index count : {1, 2, 5}) {
      const Eigen::VectorXd truth = Eigen::VectorXd::LinSpaced(count, 0.3, 0.6),
                            weights = Eigen::VectorXd::LinSpaced(count, 1, 3);
      const ResidualsAt residuals = [&](const std::vector<Eigen::VectorXd>& points) {
        std::vector<Eigen::VectorXd> found;
        for (const Eigen::VectorXd& t : points) found.push_back(weights.cwiseProduct(t - truth));
        return found;
      };
      int told = 0;
      const LeastSquaresResult found =
          direct_search(method, residuals, Eigen::VectorXd::Constant(count, 0.9), {.most_iterations = 500},
                        [&](const LeastSquaresStep&) { ++told; });
      EXPECT_TRUE(found.is_converged) << count;
      EXPECT_LT((found.point - truth).cwiseAbs().maxCoeff(), 2e-3) << count;
      EXPECT_GT(told, 1) << count;
    }
}

TEST(BoundedStep, MeetsTheConditionsOfALeast) {
  std::srand(7);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Index count = 1 + trial % 6;
    const Eigen::MatrixXd a = Eigen::MatrixXd::Random(9, count);
    const Eigen::VectorXd r = 3 * Eigen::VectorXd::Random(9),
                          low = -Eigen::VectorXd::Random(count).cwiseAbs(),
                          high = Eigen::VectorXd::Random(count).cwiseAbs();
    const Eigen::VectorXd d = bounded_step(a, r, low, high), slope = a.transpose() * (a * d + r);
    for (Eigen::Index k = 0; k < count; ++k) {
      ASSERT_GE(d[k], low[k]);
      ASSERT_LE(d[k], high[k]);
      if (d[k] > low[k]) {
        EXPECT_LT(slope[k], 1e-9);
      }
      if (d[k] < high[k]) {
        EXPECT_GT(slope[k], -1e-9);
      }
    }
  }
}

TEST(StiffnessSplineTest, GoesThroughItsControlPointsAndRises) {
  const StiffnessSpline spline{{0.01, 0.02, 0.04}, {100, 300, 320}};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(spline.at(spline.strains[i]), spline.stiffness[i]);
  EXPECT_EQ(spline.at(0), 100);
  EXPECT_EQ(spline.at(1), 320);
  // A parabola is kept between two inner points.
  StiffnessSpline parabola{{0, 1, 2, 3}, {0, 1, 4, 9}};
  EXPECT_NEAR(parabola.at(1.5), 2.25, 1e-12);
  // As a curve, by Green's measure: k e at the strains between.
  const StressCurve curve = stress_curve(spline, false, StrainMeasure::green);
  const std::vector<CurvePiece> law = thread_law(curve, 2);
  for (const double e : {0.005, 0.013, 0.02, 0.031, 0.039})
    EXPECT_NEAR(response(law, 2 * e), spline.at(e) * e, 2e-3 * 0.04 * 320) << e;
  // Where k e falls the curve rises all the same.
  const StressCurve falling = stress_curve({{0.01, 0.02, 0.03}, {300, 10, 10}}, true, StrainMeasure::green);
  StressCurves curves;
  curves.shear = falling;
  EXPECT_NO_THROW(validate_curves("curves", curves));
}

TEST_F(RestFitTest, RefusesWhatIsNotAskedRight) {
  write_rigs(Json::object(), "membrane");
  const Json good = plan(Json::array({stiffness("stretch_stiffness", 50, 5000, 800, 1)}));
  Json made = good;
  made["parameters"][0].erase("stages");
  for (Json& experiment : made["experiments"]) experiment.erase("stages");
  simulate(made);
  const auto refused = [&](const std::function<void(Json&)>& change, const std::string& expected) {
    Json asked = made;
    change(asked);
    try {
      fit(asked);
      ADD_FAILURE() << expected;
    } catch (const SceneError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  };
  refused([&](Json& j) { j = good; }, "parameters: found none in stage 2");
  refused([](Json& j) { j["experiments"][0]["most_tilt"] = 3; }, "experiments[0].most_tilt: found it beside");
  refused([](Json& j) { j["parameters"][0]["points"] = 3; }, "parameters[0].number: found");
  refused([](Json& j) { j["parameters"][0]["number"] = "rest_noise.normal_deviation"; },
          "expected a number of the fabric");
  refused(
      [](Json& j) {
        j["experiments"][0].update({{"at_rest", false}, {"start", "recorded"}});
      },
      "experiments[0].start");
  refused(
      [](Json& j) {
        j["experiments"][0].erase("forces");
        j["experiments"][0]["objective"] = "forces";
      },
      "experiments[0].objective");
  refused([](Json& j) { j["search"] = "simplex"; }, "search");
  refused([](Json& j) { j.update({{"search", "bobyqa"}, {"levels", 2}}); }, "levels: found 2 beside");
}

}  // namespace
}  // namespace isocloth
