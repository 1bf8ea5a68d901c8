// Numbers of a result, each told once: beside its member stand its name, unit, meaning and where it appears.
//
// A struct of such numbers has `static constexpr auto fields()`, a tuple of a Quantity for every member. Sums
// over steps and garments, metrics.csv, trajectory.h5, checkpoints, summary.json, the report page, measures
// of a sweep, the attributes in Python and the page of all quantities are made from these tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/core/fields.hpp"

namespace isocloth {

/// How one number comes of those of several steps or frames, and of several garments.
enum class Rule {
  none,      ///< it is of one garment at one instant
  most,      ///< largest of steps and garments
  least,     ///< smallest of both
  sum,       ///< of both
  end_most,  ///< of the last step or frame, the largest of the garments
  end_sum,   ///< of the last step or frame, the sum of the garments
};
const char* to_string(Rule rule);

/// Where a quantity is in files.
struct InFiles {
  const char* summary = nullptr;  ///< key in summary.json, null: none
  const char* column = nullptr;   ///< in metrics.csv and trajectory.h5; null: its name, "": none
  bool is_optional = false;       ///< files of the same version may lack it, and read as without steps
};

/// Where a quantity is in the report page.
struct OnPage {
  const char* label = "";    ///< there; "": its key in words
  const char* plot = "";     ///< title of the plot that draws it, "": none
  const char* section = "";  ///< title of the table that has the summary's number, "": none
};

/// What is known of a quantity beside its name.
struct About {
  Rule rule = Rule::none;
  const char* unit = "";  ///< "": a count or a number without unit, "1": a ratio read in per cent, "byte"
  const char* doc = "";   ///< one phrase without unit; code in double backquotes
  InFiles files = {};
  OnPage page = {};
};

/// A member, its name in files and Python, and what is known of it.
template <class Struct, class Type>
struct Quantity : Field<Struct, Type> {
  About about;
  constexpr Quantity(const char* n, Type Struct::*m, const About& a) : Field<Struct, Type>(n, m), about(a) {}
  constexpr Quantity(const char* n, Type Struct::*m, Rule rule, const char* unit, const char* doc,
                     const InFiles& files = {}, const OnPage& page = {})
      : Quantity(n, m, About{rule, unit, doc, files, page}) {}
};

template <class Struct>
concept HasQuantities = requires {
  std::get<0>(Struct::fields()).about;
};

/// Calls visit(quantity) for every member; one that fields() leaves out does not compile.
template <HasQuantities Struct, class Visit>
constexpr void for_each_quantity(const Visit& visit) {
  constexpr auto all = Struct::fields();
  static_assert(std::tuple_size_v<decltype(all)> == member_count<Struct>(), "fields() leaves out a member");
  std::apply([&](const auto&... quantity) { (visit(quantity), ...); }, all);
}

/// Adds what is found of a further garment, or of a later step, to what was found before: each number by its
/// rule.
enum class Further { garment, step };
template <HasQuantities Struct>
void add_by_rule(Further further, const Struct& found, Struct& all) {
  for_each_quantity<Struct>([&](const auto& quantity) {
    auto& into = all.*quantity.member;
    const auto& from = found.*quantity.member;
    using Type = std::remove_cvref_t<decltype(into)>;
    if constexpr (HasQuantities<Type>) {
      add_by_rule(further, from, into);
    } else if constexpr (std::is_arithmetic_v<Type> || std::is_enum_v<Type>) {
      Rule rule = quantity.about.rule;
      if (further == Further::garment && rule == Rule::end_most) rule = Rule::most;
      if (further == Further::garment && rule == Rule::end_sum) rule = Rule::sum;
      if (rule == Rule::end_most || rule == Rule::end_sum) into = from;
      if (rule == Rule::most) into = std::max(into, from);
      if (rule == Rule::least) into = std::min(into, from);
      if constexpr (std::is_arithmetic_v<Type>)
        if (rule == Rule::sum) into += from;
    }
  });
}

}  // namespace isocloth
