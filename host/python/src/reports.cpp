// What steps and states are measured to be.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/results/run_record.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

/// Of its class in Python; of those that are in files alone the name in C++.
template <class Struct>
constexpr const char* class_name = "FrameMetrics";
template <>
constexpr const char* class_name<Strain> = "Strain";
template <>
constexpr const char* class_name<StepReport> = "StepReport";
template <>
constexpr const char* class_name<Measures> = "Measures";
template <>
constexpr const char* class_name<EnergySums> = "EnergySums";
template <>
constexpr const char* class_name<ContactMeasures> = "ContactMeasures";
template <>
constexpr const char* class_name<HoldMeasures> = "HoldMeasures";
template <>
constexpr const char* class_name<RunSummary> = "RunSummary";

/// "Name(first=1, second=[0, 0, 0], ...)", without arrays.
template <class Struct>
std::string words(const Struct& s) {
  std::string all;
  for_each_quantity<Struct>([&](const auto& quantity) {
    const auto& value = s.*quantity.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    std::string word;
    if constexpr (HasQuantities<Type>)
      word = words(value);
    else if constexpr (std::is_enum_v<Type>)
      word = text("'", to_string(value), "'");
    else if constexpr (std::is_same_v<Type, Vec3d>)
      word = text("[", value.x, ", ", value.y, ", ", value.z, "]");
    else if constexpr (std::is_arithmetic_v<Type>)
      word = text(value);
    if (!word.empty()) all += text(all.empty() ? "" : ", ", quantity.name, "=", word);
  });
  return text(class_name<Struct>, "(", all, ")");
}

/// A class with a property for each quantity; its docstring ends with the unit, of ratios with none.
template <class Struct>
nb::class_<Struct> bind(nb::module_& module, const char* doc) {
  nb::class_<Struct> type(module, class_name<Struct>, doc);
  for_each_quantity<Struct>([&](const auto& quantity) {
    const auto member = quantity.member;
    const std::string_view unit = quantity.about.unit;
    const std::string about =
        unit.empty() || unit == "1" ? quantity.about.doc : text(quantity.about.doc, " [", unit, "]");
    using Type = std::remove_cvref_t<decltype(std::declval<Struct&>().*member)>;
    if constexpr (std::is_enum_v<Type>)
      type.def_prop_ro(
          quantity.name, [member](const Struct& s) { return to_string(s.*member); }, about.c_str());
    else if constexpr (std::is_same_v<Type, Vec3d> || is_vector<Type>)
      type.def_prop_ro(
          quantity.name, [member](const Struct& s) { return to_array(s.*member); }, nb::rv_policy::automatic,
          about.c_str());
    else
      type.def_ro(quantity.name, member, about.c_str());
  });
  type.def("__repr__", &words<Struct>);
  return type;
}

/// Adds a dict for every quantity of a struct and of those within it.
template <class Struct>
void list(nb::list& all) {
  for_each_quantity<Struct>([&](const auto& quantity) {
    using Type = std::remove_cvref_t<decltype(std::declval<Struct&>().*quantity.member)>;
    if constexpr (HasQuantities<Type>) {
      list<Type>(all);
    } else {
      const About& about = quantity.about;
      constexpr bool is_summary = std::is_same_v<Struct, RunSummary>, is_3d = std::is_same_v<Type, Vec3d>;
      const char* const column = about.files.column ? about.files.column : quantity.name;
      const char* const key = is_summary ? quantity.name : about.files.summary ? about.files.summary : "";
      nb::dict found;
      found["of"] = class_name<Struct>;
      found["name"] = quantity.name;
      found["unit"] = about.unit;
      found["doc"] = about.doc;
      found["label"] = about.page.label;
      found["rule"] = to_string(about.rule);
      found["column"] = !is_summary && (std::is_arithmetic_v<Type> || is_3d) ? column : "";
      found["summary"] = key;
      found["plot"] = about.page.plot;
      all.append(found);
    }
  });
}

}  // namespace

void bind_reports(nb::module_& module) {
  bind<Strain>(module,
               "How far a cloth is stretched against its rest shape, measured from positions on every edge "
               "and in every element: ``s1`` >= ``s2`` are principal stretches.");
  bind<StepReport>(module, "What one step, or several, of one garment did.");
  bind<Measures>(module, "Energies, momenta and errors of area of one garment.");
  bind<EnergySums>(module,
                   "Where the energy of a garment came from and went to since the run began [J]: "
                   "kinetic + bending + stretch + shear energy = that of the start + works - "
                   "losses + errors. Columns of the same names are in results of "
                   ":func:`run` with ``energy_balance``.")
      .def_prop_ro("works", &EnergySums::works, "their sum")
      .def_prop_ro("losses", &EnergySums::losses, "their sum")
      .def_prop_ro("errors", &EnergySums::errors, "``error_rows`` and ``energy_error``");
  bind<ContactMeasures>(module, "Contacts of a garment with obstacles and bodies.");
  bind<HoldMeasures>(module, "What grippers hold of a garment.");
  module.def(
      "quantities",
      [] {
        nb::list all;
        list<RunSummary>(all);
        return all;
      },
      "Every number of a result, a dict each: ``of`` (class, or ``FrameMetrics``, ``RunSummary`` of what "
      "files have "
      "alone), ``name`` there, ``unit`` (``1``: a ratio that is read in per cent), ``doc``, ``label`` of the "
      "page, "
      "``rule`` (how one comes of several), and where it is: ``column`` of ``metrics.csv`` (of a vector with "
      "_x, _y, _z "
      "behind it), key in the ``summary``, title of the ``plot`` of the page; empty: nowhere.\n\n"
      ">>> [q[\"unit\"] for q in quantities() if q[\"column\"] == \"seam_opening\"]\n"
      "['m']");

  nb::class_<GarmentInfo>(module, "GarmentInfo", "Sizes of one garment's problem.")
      .def_ro("node_count", &GarmentInfo::node_count)
      .def_ro("face_count", &GarmentInfo::face_count)
      .def_ro("row_count", &GarmentInfo::row_count)
      .def_ro("free_node_count", &GarmentInfo::free_node_count)
      .def_ro("memory_bytes", &GarmentInfo::memory_bytes, "estimated")
      .def_ro("solver", &GarmentInfo::solver)
      .def("__repr__", [](const GarmentInfo& g) {
        return text("GarmentInfo(node_count=", g.node_count, ", face_count=", g.face_count,
                    ", row_count=", g.row_count, ", solver='", g.solver, "')");
      });
}

}  // namespace isocloth::python
