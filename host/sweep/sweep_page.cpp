#include "host/sweep/sweep_page.hpp"

#include <algorithm>

#include "engine/core/text.hpp"
#include "host/report/encode.hpp"
#include "host/sweep/svg.hpp"
#include "host/sweep/sweep_plot.hpp"

namespace isocloth {
namespace {

constexpr std::size_t most_rows = 1000;

constexpr const char* style =
    R"(body { font: 15px/1.5 Helvetica, Arial, sans-serif; margin: 2em auto; max-width: 76em;
  padding: 0 1em; color: #222; background: #f6f5f2; }
h1 { font-size: 1.5em; } figure { margin: 1em 0; background: white; border: 1px solid #ddd; border-radius: 8px;
  padding: 8px; overflow-x: auto; } figure[hidden] { display: none; }
.scroll { overflow: auto; max-height: 40em; border: 1px solid #ddd; border-radius: 8px; background: white; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 10px; text-align: right; white-space: nowrap; } th { position: sticky; top: 0; background: #eee; }
tr.stalled td { background: #fff6dc; } tr.failed td { background: #fbe3e3; } .muted { color: #666; })";

constexpr const char* script = R"(const measure = document.getElementById("measure");
const show = () => document.querySelectorAll("figure").forEach((f, i) => { f.hidden = i !== measure.selectedIndex; });
measure.addEventListener("change", show);
show();)";

std::string head_cell(const std::string& name, const std::string& unit) {
  return "<th>" + escape_html(name) + (unit.empty() ? "" : "<br>[" + escape_html(unit) + "]") + "</th>";
}

std::string rows(const SweepTable& table) {
  std::string all = "<tr>" + head_cell("case", "");
  for (const SweepParameter& p : table.plan.parameters) all += head_cell(p.path, p.unit);
  all += head_cell("status", "");
  for (const SweepMeasure& m : table.measures) all += head_cell(m.name, m.unit);
  all += "</tr>\n";
  for (std::size_t i = 0; i < std::min(most_rows, table.rows.size()); ++i) {
    const SweepRow& row = table.rows[i];
    const std::string status = to_string(row.status);
    all += text("<tr class=\"", status, "\"><td>", i, "</td>");
    for (std::size_t p = 0; p < table.plan.parameters.size(); ++p)
      all += "<td>" + tick_text(table.plan.value(i, p)) + "</td>";
    all += "<td>" + status + "</td>";
    for (std::size_t m = 0; m < table.measures.size(); ++m)
      all += "<td>" + (row.values.empty() ? "" : tick_text(row.values[m])) + "</td>";
    all += "</tr>\n";
  }
  return all;
}

}  // namespace

std::string sweep_page(const SweepTable& table, const std::string& title) {
  std::string options, figures;
  for (std::size_t m = 0; m < table.measures.size(); ++m) {
    options += text("<option>", escape_html(table.measures[m].name), "</option>");
    figures += "<figure>\n" + sweep_svg(table, m, title) + "<figcaption class=\"muted\">" +
               escape_html(table.measures[m].doc) + "</figcaption></figure>\n";
  }
  const std::string cut = table.rows.size() > most_rows
                              ? text("The first ", most_rows, " cases; sweep.csv holds all.")
                              : std::string("As in sweep.csv, rounded.");
  return text("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escape_html(title),
              "</title><style>", style, "</style></head>\n<body><h1>", escape_html(title), "</h1>\n<p>",
              table.counts(), "</p>\n<p><label>measure <select id=\"measure\">", options,
              "</select></label></p>\n", figures, "<h2>Cases</h2><p class=\"muted\">", cut,
              "</p><div class=\"scroll\"><table>", rows(table), "</table></div>\n<script>", script,
              "</script></body></html>\n");
}

}  // namespace isocloth
