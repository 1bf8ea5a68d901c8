#include "host/models/air/panel_flow.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "engine/models/air/panel_pressure.hpp"
#include "host/models/air/ring_system.hpp"

namespace isocloth {
namespace {

/// Core of the vortices in parts of panel_size: the wash at a collocation point, half a panel
/// off, changes by 2 core^2 / (1/2)^2 = 0.3 %.
constexpr double core_part = 0.02;
/// Where an endless wake ends, in diagonals of the sheet.
constexpr double far_away = 200;
/// Where the youngest wake vortex is, in parts of the way of the air in a step (Katz, Plotkin: 0.2 to 0.3).
constexpr double youngest = 0.25;

/// One step of a flow.
class PanelStep {
 public:
  PanelStep(const PanelGrid& grid, const SheetMotion& sheet, const Vec3d& wind, double step, double density,
            double permeability, std::size_t wake_rows, Index most_dense, AirState& state)
      : grid_(grid),
        sheet_(sheet),
        wind_(wind),
        step_(step),
        density_(density),
        permeability_(permeability),
        wake_rows_(wake_rows),
        state_(state),
        lattice_(vortex_lattice(grid, sheet.positions)),
        count_(static_cast<std::size_t>(grid.panel_count())),
        most_dense_(most_dense) {
    if (state.circulations.empty()) state.circulations.assign(count_, 0);
  }

  void advance() {
    move_wake();
    set_lines();
    induce();
    solve();
    shed();
  }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(grid_.columns); }
  bool is_steady() const { return wake_rows_ == 0; }

  void move_wake() {
    wake_ = as_vectors(state_.wake_points);
    for (Vec3d& point : wake_) point += step_ * wind_;
  }

  /// Lines of vortices from the leading edge to the end of the wake.
  void set_lines() {
    const std::size_t width = columns() + 1, rows = static_cast<std::size_t>(grid_.rows);
    const Vec3d* const trailing = lattice_.ring_points.data() + rows * width;
    const double diagonal = norm(lattice_.ring_points.back() - lattice_.ring_points.front());
    const Vec3d far = far_away * diagonal / std::max(norm(wind_), 1e-300) * wind_;
    shed_.resize(width);
    for (std::size_t j = 0; j < width; ++j)
      shed_[j] = trailing[j] + (is_steady() ? far : youngest * step_ * (wind_ - velocity_of_edge(j)));
    for (std::size_t i = 0; i <= rows; ++i) lines_.push_back(lattice_.ring_points.data() + i * width);
    lines_.push_back(shed_.data());
    for (std::size_t k = 0; k * width < wake_.size(); ++k) lines_.push_back(wake_.data() + k * width);
    if (is_steady() || state_.wake_circulations.size() < wake_rows_ * columns()) return;
    end_.assign(wake_.end() - static_cast<std::ptrdiff_t>(width), wake_.end());
    for (Vec3d& point : end_) point += far;
    lines_.push_back(end_.data());
  }

  /// Velocity of the trailing edge where line j of the lattice ends [m/s].
  Vec3d velocity_of_edge(std::size_t line) const {
    const Index j = static_cast<Index>(line), n = grid_.columns;
    const auto at = [this](Index i) {
      return sheet_.velocities[static_cast<std::size_t>(grid_.node(grid_.rows, i))];
    };
    if (j > 0 && j < n) return at(j);
    return 0.75 * at(j) + 0.25 * at(j == 0 ? 1 : n - 1);
  }

  /// Wash of rings of unknown circulation, and velocities of all with those of a step ago.
  void induce() {
    const SheetRings rings{grid_, lattice_, lines_, core_part * lattice_.panel_size};
    system_ = grid_.panel_count() > most_dense_ ? tree_ring_system(rings) : dense_ring_system(rings);
    const std::size_t known = lines_.size() - static_cast<std::size_t>(grid_.rows) - 2;
    std::vector<double> wake;
    for (std::size_t k = 0; k < known; ++k)
      for (std::size_t j = 0; j < columns(); ++j) wake.push_back(wake_circulation(k, j));
    const InducedVelocities induced = system_->induce(state_.circulations, wake);
    right_.resize(static_cast<Eigen::Index>(count_));
    velocities_.resize(count_);
    for (std::size_t c = 0; c < count_; ++c) {
      const Vec3d relative = wind_ - sheet_velocity(c) + induced.by_wake[c];
      right_(static_cast<Eigen::Index>(c)) = -dot(lattice_.panels[c].wash_normal, relative);
      velocities_[c] = relative + induced.by_sheet[c];
    }
  }

  /// Circulation of panel j in row k of the wake after the youngest [m^2/s]; the row without end has that of
  /// the last.
  double wake_circulation(std::size_t k, std::size_t j) const {
    const std::size_t rows = state_.wake_circulations.size() / columns();
    return state_.wake_circulations[std::min(k, rows - 1) * columns() + j];
  }

  Vec3d sheet_velocity(std::size_t c) const {
    const Index p = static_cast<Index>(c);
    const auto corners = grid_.corners(p / grid_.columns, p % grid_.columns);
    Vec3d v;
    for (std::size_t k = 0; k < 4; ++k)
      v +=
          lattice_.panels[c].collocation_weights[k] * sheet_.velocities[static_cast<std::size_t>(corners[k])];
    return v;
  }

  void solve() {
    std::vector<PanelPressure> pressures;
    for (std::size_t p = 0; p < count_; ++p)
      pressures.push_back(panel_pressure(grid_, lattice_, static_cast<Index>(p), velocities_[p], density_,
                                         is_steady() ? 0 : 1 / step_, state_.circulations));
    for (std::size_t c = 0; c < count_; ++c) {
      add_pressure(c, pressures[c].quarter, permeability_);
      add_pressure(c, pressures[c].middle, permeability_);
      if (sheet_.inverse_masses.size() > 0) add_response(c, pressures);
    }
    const Eigen::VectorXd found = system_->solve(right_, state_.circulations);
    if (!found.allFinite())
      throw NumericalError("air: no finite circulations of the panels were found; take a smaller step");
    state_.circulations.assign(found.begin(), found.end());
    state_.loads.assign(3 * sheet_.positions.size(), 0);
    state_.pressures.clear();
    for (std::size_t p = 0; p < count_; ++p) {
      const double quarter = pressures[p].quarter.value(state_.circulations);
      const double middle = pressures[p].middle.value(state_.circulations);
      state_.pressures.push_back(quarter + middle);
      const VortexPanel& panel = lattice_.panels[p];
      const auto corners = corners_of(p);
      for (std::size_t k = 0; k < 4; ++k) {
        const double force = panel.area * (quarter * quarter_weights[k] + middle * middle_weights[k]);
        const Vec3d load = force * panel.normal;
        double* const to = state_.loads.data() + 3 * static_cast<std::size_t>(corners[k]);
        to[0] += load.x, to[1] += load.y, to[2] += load.z;
      }
    }
  }

  std::array<Index, 4> corners_of(std::size_t p) const {
    return grid_.corners(static_cast<Index>(p) / grid_.columns, static_cast<Index>(p) % grid_.columns);
  }

  /// Brings -factor dp to the left side of the equation of collocation point c.
  void add_pressure(std::size_t c, const PressureRow& pressure, double factor) {
    if (factor == 0) return;
    for (std::size_t k = 0; k < pressure.count; ++k)
      system_->add(c, static_cast<std::size_t>(pressure.panels[k]), -factor * pressure.coefficients[k]);
    right_(static_cast<Eigen::Index>(c)) += factor * pressure.constant;
  }

  /// What pressure on the panels around does to the velocity of the sheet at collocation point c.
  void add_response(std::size_t c, const std::vector<PanelPressure>& pressures) {
    const Index i = static_cast<Index>(c) / grid_.columns, j = static_cast<Index>(c) % grid_.columns;
    const auto own = grid_.corners(i, j);
    for (Index r = std::max(0, i - 1); r <= std::min(grid_.rows - 1, i + 1); ++r)
      for (Index s = std::max(0, j - 1); s <= std::min(grid_.columns - 1, j + 1); ++s) {
        const std::size_t p = static_cast<std::size_t>(r * grid_.columns + s);
        const auto other = grid_.corners(r, s);
        double quarter = 0, middle = 0;
        for (std::size_t k = 0; k < 4; ++k)
          for (std::size_t l = 0; l < 4; ++l) {
            if (own[k] != other[l]) continue;
            const double moved = lattice_.panels[c].collocation_weights[k] *
                                 sheet_.inverse_masses[static_cast<std::size_t>(own[k])];
            quarter += moved * quarter_weights[l];
            middle += moved * middle_weights[l];
          }
        const VortexPanel& panel = lattice_.panels[p];
        const double factor = step_ * panel.area * dot(lattice_.panels[c].wash_normal, panel.normal);
        add_pressure(c, pressures[p].quarter, factor * quarter);
        add_pressure(c, pressures[p].middle, factor * middle);
      }
  }

  /// The end of the youngest row becomes the first line of the wake, and the row behind it one of its rows.
  void shed() {
    if (is_steady()) return;
    wake_.insert(wake_.begin(), shed_.begin(), shed_.end());
    std::vector<double>& rows = state_.wake_circulations;
    rows.insert(rows.begin(), state_.circulations.end() - static_cast<std::ptrdiff_t>(columns()),
                state_.circulations.end());
    if (rows.size() > wake_rows_ * columns()) {
      rows.resize(wake_rows_ * columns());
      wake_.resize(wake_rows_ * shed_.size());
    }
    state_.wake_points = as_numbers(wake_.data(), wake_.size());
  }

  const PanelGrid& grid_;
  const SheetMotion& sheet_;
  Vec3d wind_;
  double step_, density_, permeability_;
  std::size_t wake_rows_;
  AirState& state_;
  VortexLattice lattice_;
  std::size_t count_;
  Index most_dense_;
  std::vector<Vec3d> wake_, shed_, end_;
  std::vector<const Vec3d*> lines_;
  std::unique_ptr<RingSystem> system_;
  Eigen::VectorXd right_;
  /// Velocities of the air against the sheet at collocation points, mean of both sides [m/s].
  std::vector<Vec3d> velocities_;
};

}  // namespace

PanelFlow::PanelFlow(const PanelGrid& grid, const Wind& wind) : PanelFlow(grid, wind, most_dense_panels) {}

PanelFlow::PanelFlow(const PanelGrid& grid, const Wind& wind, Index most_dense)
    : grid_(grid),
      density_(wind.density),
      permeability_(wind.permeability),
      wake_rows_(static_cast<std::size_t>(wind.wake_rows)),
      most_dense_(most_dense) {}

void PanelFlow::advance(const SheetMotion& sheet, const Vec3d& wind, double step, AirState& state) const {
  PanelStep(grid_, sheet, wind, step, density_, permeability_, wake_rows_, most_dense_, state).advance();
}

}  // namespace isocloth
