// The report in a real browser: what a reader sees on a phone and on a desk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "tests/report/browser.hpp"
#include "tests/report/swinging_sheet.hpp"

namespace isocloth {
namespace {

using nlohmann::json;
using test::add_laws;
using test::make_run;

constexpr int phone = 390, desk = 1440, height = 900;

class Page : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::path(testing::TempDir()) /
             ("isocloth_page_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    browser = std::make_unique<test::Browser>(ISOCLOTH_BROWSER, folder);
  }
  void TearDown() override {
    browser.reset();
    std::filesystem::remove_all(folder);
  }

  void open(const ReportData& data, int width, const std::string& options = "play=0") {
    write_report(folder / "report.html", data);
    browser->open(folder / "report.html", width, height, options);
  }

  /// What no page may have, whatever the run was.
  void expect_sound(const std::string& where) {
    SCOPED_TRACE(where);
    EXPECT_EQ(json(browser->complaints), json::array());
    EXPECT_EQ(browser->evaluate("document.documentElement.scrollWidth - innerWidth"), 0)
        << "the page overflows";
    EXPECT_EQ(browser->evaluate(R"(
        [...document.querySelectorAll(".tile, .tile *, .banner, .banner p, .message, .toolbar, .transport, .plot, h1, .table")]
          .filter((element) => element.scrollWidth > element.clientWidth && element.clientWidth > 0)
          .map((element) => `${element.className || element.tagName}: ${element.textContent}`))"),
              json::array())
        << "overflows";
    // Half of the width of the label column is more than any label of an axis takes.
    EXPECT_EQ(browser->evaluate(R"(
        [...document.querySelectorAll(".plot")].flatMap((plot) => {
          const labels = [...plot.querySelectorAll("svg text")].filter((text) => !/bound|unit/.test(text.getAttribute("class")));
          const ofValues = labels.filter((text) => text.getAttribute("text-anchor") === "end");
          return [ofValues, labels.filter((text) => !ofValues.includes(text))].map((axis) => axis.map((text) => text.textContent))
            .filter((axis) => axis.length < 2 || new Set(axis).size < axis.length)
            .map((axis) => `${plot.querySelector("h3").textContent}: ${axis.join(" | ")}`);
        }))"),
              json::array())
        << "an axis repeats a label";
    EXPECT_EQ(browser->evaluate(R"(document.body.innerText.match(/.*(object|undefined|NaN|null).*/i))"),
              json());
    EXPECT_EQ(browser->evaluate(R"(document.body.innerText.match(/.*\d\.\d{7,}.*/))"), json())
        << "digits that nobody reads";
    EXPECT_GE(browser->evaluate("document.querySelectorAll('.tile').length"), 6);
    EXPECT_GT(colour_count(), 30) << "the 3D view is blank";
  }

  /// Distinct colours of the 3D view.
  int colour_count() {
    return browser->evaluate(R"((() => {
        const picture = document.querySelector("#stage canvas"), copy = document.createElement("canvas");
        if (!picture) return 0;
        copy.width = picture.width, copy.height = picture.height;
        copy.getContext("2d").drawImage(picture, 0, 0);
        const pixels = new Uint32Array(copy.getContext("2d").getImageData(0, 0, copy.width, copy.height).data.buffer);
        return new Set(pixels).size;
      })())");
  }

  /// A file that the page saves at a click, once it is whole.
  std::string saved(const std::string& button, const std::string& name) {
    browser->evaluate("document.getElementById('" + button + "').click()");
    const std::filesystem::path file = folder / name;
    for (int i = 0; i < 400 && !std::filesystem::exists(file); ++i) browser->draw();
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder;
  std::unique_ptr<test::Browser> browser;
};

/// Numbers, names and messages that are hard to lay out.
ReportData awkward_run() {
  ReportData data = make_run(6, 40, 1);
  RunSummary& s = data.summary;
  s.scene = "Aussergewoehnlichlangername_of_a_scene_without_any_space_in_it_at_all_and_more";
  s.machine = "AMD EPYC 9654P 96-Core Processor with a long name";
  s.solver = "multifrontal Cholesky, nested dissection, avx512";
  s.realtime_factor = 0.0009226337612732675;
  s.iterations_per_step_mean = 1234.567891234;
  s.node_count = 1234567890;
  s.row_count = 3703703670;
  s.wall_seconds = 123456.789123;
  s.overall.steps.residual = 9.87654321e-12;
  s.overall.steps.penetration = 0.0009932159909510970;
  s.overall.contacts.count = 288;
  s.contact_force = {{"table", 0.3286989596992173}, {"a rigid body of some name", 76.17463478297387}};
  s.gripper_force_max = {{"left", 9983.291708306851}, {"right", 0}};
  s.body_poses = {{"ball", {-0.05459953844547272, 0.02247864007949829, -437.83071637153625, 0, 0.6, 0, 0.8}}};
  // Strain that stays below what a per cent of three digits shows, and a quantity that never changes.
  for (FrameMetrics& m : data.metrics) {
    m.measures.area_error_total *= 1e-4;
    m.measures.area_error_mean *= 1e-6;
    m.measures.area_error_dispersion = 0;
    m.measures.kinetic_energy = 1234.5;
    m.measures.potential_energy = 1e-9 * m.measures.potential_energy;
    m.steps.iterations = 1;
    m.steps.penetration = 1e-7 * m.steps.residual;
    m.contacts.force = {0, 0, 1.25e-5};
  }
  return data;
}

ReportData failed_run() {
  ReportData data = make_run(4, 30, 3);
  data.summary.status = "failed";
  data.summary.message =
      "garments[1] \"sheet 1\": residual 1.23, expected <= 0.001, and penetration of obstacles by 0.2 m "
      "after 550 "
      "iterations in the step to t = 0.9 s; use a smaller step";
  data.summary.steps_violated = 12;
  data.summary.garments_stalled = 2;
  data.summary.overall.steps.residual = std::numeric_limits<double>::quiet_NaN();
  data.metrics[20].steps.residual = std::numeric_limits<double>::quiet_NaN();
  data.metrics[20].steps.status = StepStatus::non_finite;
  return data;
}

/// Sixteen sheets in one place, each beside a table that would hide others from below.
ReportData batch() {
  ReportData data = make_run(4, 12, 16);
  const std::size_t node_count = data.rest_positions.size() / 3;
  data.frame_positions = [read = data.frame_positions, node_count](std::size_t frame) {
    std::vector<double> p = read(frame);
    for (std::size_t i = 0; i < node_count; ++i) p[3 * i + 1] -= 0.35 * static_cast<double>(i / 25);
    return p;
  };
  data.obstacles = {
      {"table", "box", {-0.5f, -0.5f, 0, 0.5f, -0.5f, 0, 0.5f, 0.5f, 0, -0.5f, 0.5f, 0}, {0, 1, 2, 0, 2, 3}}};
  data.obstacle_poses = [](std::size_t) { return std::vector<float>{0.15f, 0, -0.5f, 0, 0, 0, 1}; };
  return data;
}

TEST_F(Page, fits_the_phone_and_the_desk_whatever_the_run_was) {
  const std::pair<const char*, ReportData> runs[] = {{"awkward", awkward_run()},
                                                     {"failed", failed_run()},
                                                     {"one frame", make_run(3, 1, 1)},
                                                     {"batch", batch()}};
  for (const auto& [name, data] : runs) {
    browser->set_theme("light");
    open(data, desk);
    expect_sound(std::string(name) + " on a desk");
    browser->set_theme("dark");
    browser->resize(phone, height);
    expect_sound(std::string(name) + " on a phone");
  }
}

TEST_F(Page, says_how_the_run_ended) {
  open(failed_run(), phone);
  const auto banner = [&](const std::string& changes) {
    return browser
        ->evaluate("fillBanner({...summary, ..." + changes +
                   "}), $('banner').className + ': ' + $('banner').innerText")
        .get<std::string>();
  };
  const auto starts = [&](const std::string& changes, const std::string& expected) {
    EXPECT_EQ(banner(changes).substr(0, expected.size()), expected);
  };
  starts("{}", "banner bad: Failed Garments[1] \"sheet 1\": residual 1.23");
  starts("{status: 'completed', message: '', steps_violated: 0}",
         "banner good: Completed All 270 garment steps kept");
  starts("{status: 'completed', message: '', steps_violated: 0, steps_cut: 7}",
         "banner good: Completed All 270 garment steps, but 7 that their budget cut, kept");
  starts("{status: 'completed', message: 'two missed'}",
         "banner fair: Violated 12 of 270 garment steps missed the tolerance of 0.001. Two missed.");
  starts("{status: 'completed', garments_frozen: 1, message: ''}",
         "banner bad: Frozen 1 of 3 garments froze at their last finite state.");
  starts("{status: 'stopped'}", "banner fair: Stopped 12 of");
  starts("{status: 'interrupted', steps_violated: 0, message: 'interrupted'}",
         "banner fair: Interrupted Interrupted.");
}

TEST_F(Page, opens_on_the_fabric_and_shows_errors_a_click_away) {
  open(make_run(8, 40, 1), phone, "frame=17");
  EXPECT_EQ(browser->evaluate("document.querySelector('#coloring [aria-pressed=true]').textContent"),
            "Fabric");
  std::vector<std::string> pictures;
  for (const char* coloring : {"fabric", "checks", "element", "edge", "area"}) {
    browser->evaluate("document.querySelector('[data-color=" + std::string(coloring) + "]').click()");
    browser->draw();
    pictures.push_back(browser->evaluate("document.querySelector('#stage canvas').toDataURL()"));
    const bool has_scale = browser->evaluate("document.getElementById('scale').offsetHeight > 0");
    EXPECT_EQ(has_scale, pictures.size() > 2) << coloring;
  }
  std::sort(pictures.begin(), pictures.end());
  EXPECT_EQ(std::unique(pictures.begin(), pictures.end()), pictures.end()) << "two colourings look alike";
}

TEST_F(Page, shows_the_view_alone) {
  open(make_run(8, 12, 1), desk, "play=0&only=view");
  EXPECT_EQ(
      browser->evaluate("[$('stage').clientWidth === innerWidth, $('stage').clientHeight === innerHeight]"),
      json::array({true, true}));
  EXPECT_GT(colour_count(), 30) << "the 3D view is blank";
}

/// Panels that lie on each other in their coordinates.
TEST_F(Page, lays_panels_of_a_pattern_side_by_side) {
  ReportData data = make_run(8, 12, 1);
  add_laws(data);
  ReportGarment& garment = data.garments[0];
  for (std::size_t f = 0; f + 1 < garment.face_begin.size(); ++f)
    for (Index c = garment.face_begin[f]; c < garment.face_begin[f + 1]; ++c) {
      const double k = c - garment.face_begin[f];  // each face is a panel of its own
      garment.corner_uvs.push_back({k == 1 || k == 2 ? 0.1 : 0, k >= 2 ? 0.1 : 0});
    }
  open(data, desk, "play=0&color=von_mises&pattern=1");
  EXPECT_EQ(browser->evaluate(R"((() => {
      const boxes = pattern.faces.map(({ corners }) => [0, 1].map((k) => [Math.min(...corners.map((c) => c[k])), Math.max(...corners.map((c) => c[k]))]));
      const overlap = (a, b) => [0, 1].every((k) => a[k][0] < b[k][1] - 1e-9 && b[k][0] < a[k][1] - 1e-9);
      return [boxes.length, boxes.filter((a, i) => boxes.some((b, j) => j < i && overlap(a, b))).length];
    })())"),
            json::array({garment.face_begin.size() - 1, 0}));
}

TEST_F(Page, shows_stress_on_the_cloth_and_on_its_pattern) {
  ReportData data = make_run(8, 12, 1);
  open(data, desk, "frame=7&color=warp");
  EXPECT_EQ(browser->evaluate("[run.errors.warp === undefined, state.coloring, "
                              "document.querySelector('[data-color=stress]').offsetWidth]"),
            json::array({true, "fabric", 0}));
  add_laws(data);
  open(data, desk, "frame=7");
  expect_sound("stress at hand");
  browser->evaluate("document.querySelector('[data-color=stress]').click()");
  std::vector<std::string> pictures, patterns;
  for (const char* component : {"von_mises", "warp", "weft", "shear"}) {
    browser->evaluate("$('component').value = '" + std::string(component) +
                      "', $('component').dispatchEvent(new Event('change'))");
    browser->draw();
    EXPECT_EQ(browser->evaluate("state.coloring"), component);
    EXPECT_EQ(browser->evaluate("$('coloring').querySelector('[aria-pressed=true]').textContent"), "Stress");
    EXPECT_EQ(browser->evaluate("/^\\+?[0-9.]+ (m|k|)N\\/m$/.test($('colorbar-high').textContent)"), true)
        << browser->evaluate("$('colorbar-high').textContent");
    EXPECT_EQ(browser->evaluate("$('colorbar-low').textContent === '0'"), pictures.empty());
    pictures.push_back(browser->evaluate("document.querySelector('#stage canvas').toDataURL()"));
    patterns.push_back(browser->evaluate("$('pattern').offsetHeight > 0 && pattern.canvas.toDataURL()"));
  }
  for (std::vector<std::string>* drawn : {&pictures, &patterns}) {
    std::sort(drawn->begin(), drawn->end());
    EXPECT_EQ(std::unique(drawn->begin(), drawn->end()), drawn->end()) << "two components look alike";
  }
  // The pattern has the colour of each face where its corners are, as far as it is drawn in one colour.
  EXPECT_EQ(browser->evaluate(R"((() => {
      const { width, height } = pattern.canvas, { data } = pattern.canvas.getContext("2d").getImageData(0, 0, width, height);
      return pattern.faces.filter(({ face, corners }) => {
        const [x, y] = pattern.toPixels([0, 1].map((k) => corners.reduce((sum, c) => sum + c[k], 0) / 4)).map(Math.floor);
        const byte = run.errors.shear.bytes[7 * run.faceCount + face];
        const ink = new THREE.Color().fromArray(viewer.palette, 3 * byte).convertLinearToSRGB();
        return [ink.r, ink.g, ink.b].some((level, k) => Math.abs(255 * level - data[4 * (y * width + x) + k]) > 1.5);
      }).length;
    })())"),
            0);
  // Von Mises' is that of the components, within the steps of their codes.
  EXPECT_LT(browser->evaluate(R"((() => {
      const { warp, weft, shear, von_mises } = run.errors, at = ({ bytes, scale }, i) => decodeSigned(bytes[i]) * scale;
      return Math.max(...Array.from(von_mises.bytes, (_, i) =>
        Math.abs(at(von_mises, i) - Math.sqrt(at(warp, i) ** 2 - at(warp, i) * at(weft, i) + at(weft, i) ** 2 + 3 * at(shear, i) ** 2)) / von_mises.scale));
    })())"),
            1.0 / 127);
  browser->evaluate("$('flat').click()");
  EXPECT_EQ(browser->evaluate("$('pattern').offsetHeight"), 0);
  browser->evaluate("$('flat').click()");
  browser->resize(phone, height);
  expect_sound("stress on a phone");
  EXPECT_GT(saved("png", "swinging_sheet.png").size(), 5000u);
}

TEST_F(Page, saves_a_picture_and_a_video) {
  open(make_run(6, 8, 1), phone);
  const std::string picture = saved("png", "swinging_sheet.png");
  ASSERT_GT(picture.size(), 5000u);
  EXPECT_EQ(picture.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(picture[at]); };
  EXPECT_EQ(256 * byte(18) + byte(19),
            browser->evaluate("2 * document.getElementById('stage').clientWidth").get<int>() & ~1)
      << "two pixels per point";
  const std::string video = saved("webm", "swinging_sheet.webm");
  ASSERT_GT(video.size(), 1000u);
  EXPECT_EQ(video.substr(0, 4), "\x1a\x45\xdf\xa3") << "an EBML header";
  EXPECT_NE(video.find("webm"), std::string::npos);
  EXPECT_EQ(json(browser->complaints), json::array());
}

TEST_F(Page, keeps_many_garments_in_sight_when_turned) {
  open(batch(), desk);
  ASSERT_EQ(browser->evaluate("document.querySelectorAll('.cell').length"), 16);
  // The share of saturated pixels, which only fabrics have, of the cell where there is least of it.
  const std::string least = R"((() => {
      const { width, height } = viewer.renderer.domElement, copy = document.createElement("canvas");
      copy.width = width, copy.height = height;
      copy.getContext("2d").drawImage(viewer.renderer.domElement, 0, 0);
      return Math.min(...viewer.cells.map(({ area }) => {
        const { data } = copy.getContext("2d").getImageData(...[area.x, area.y, area.width, area.height].map((x) => x * viewer.renderer.getPixelRatio()));
        let count = 0;
        for (let i = 0; i < data.length; i += 4)
          if (data[i + 3] > 200 && Math.max(data[i], data[i + 1], data[i + 2]) > 1.25 * Math.min(data[i], data[i + 1], data[i + 2])) ++count;
        return (4 * count) / data.length;
      }));
    })())";
  for (const char* view : {"30,15", "150,60", "-80,35", "250,5"}) {
    browser->evaluate("viewer.setView(" + std::string(view) + ")");
    browser->draw();
    EXPECT_GT(browser->evaluate(least), 0.02) << view;
  }
  browser->evaluate("document.querySelector('.cell button').click()");
  browser->draw();
  EXPECT_EQ(browser->evaluate(
                "[viewer.cells.length, document.getElementById('cloth').selectedOptions[0].textContent]"),
            json::array({1, "sheet 0"}));
}

TEST_F(Page, shows_garments_that_meet_in_one_view) {
  ReportData data = batch();
  data.garments_meet = true;
  open(data, desk);
  EXPECT_EQ(browser->evaluate("viewer.cells.length"), 1);
}

TEST_F(Page, numbers_have_few_digits_and_units) {
  open(make_run(2, 2, 1), phone);
  const std::pair<const char*, const char*> cases[] = {
      {"formatPercent(0.0004959758010325595)", "0.0496 %"},
      {"formatPercent(8.5e-6)", "8.5 ppm"},
      {"formatPercent(0)", "0 %"},
      {"formatPercent(-0.25)", "−25 %"},
      {"formatPercent(1.2345e-13)", "1.23 × 10⁻⁷ ppm"},
      {"formatNumber(0.0009226337612732675)", "9.23 × 10⁻⁴"},
      {"formatNumber(1234567)", "1.23 × 10⁶"},
      {"formatNumber(NaN)", "not finite"},
      {"formatNumber(null)", "not finite"},
      {"formatForce(9983.291708306851)", "9.98 kN"},
      {"formatForce(0.9999999)", "1 N"},
      {"formatLength(0.000993215990951097)", "993 µm"},
      {"formatSeconds(0.052366052)", "52.4 ms"},
      {"formatSeconds(123456.789)", "123,457 s"},
      {"formatBytes(9221348)", "8.79 MiB"},
      {"tickLabels([0, 2e-6, 4e-6], 100).join()", "0.0000,0.0002,0.0004"},
      {"tickLabels(ticks(0.12345601, 0.12345689, 4), 1).join()", "0.1234562,0.1234564,0.1234566,0.1234568"},
      {"axisUnit('1', 4e-6).unit", "ppm"},
      {"axisUnit('J', 0.06).unit", "mJ"}};
  for (const auto& [expression, expected] : cases)
    EXPECT_EQ(browser->evaluate(expression), expected) << expression;
}

}  // namespace
}  // namespace isocloth
