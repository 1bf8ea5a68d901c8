"""The page of every number of a result, from the tables that the engine has of them."""

from scene_reference import cell

HEAD = """\
# Every number of a result

Each is told once, beside its member (`host/state/quantity.hpp`), and all that follows is made from there; in Python
`isocloth.quantities()` has the same. Units are SI; 1 is a ratio that is read in per cent. *Of several* says how one
number comes of those of several steps and garments. A vector has a column for each of its components. `isocloth sweep
--measure` takes the columns of `StepReport`, `Strain` and `Measures`; of what is summed at the end with `_mean` or
`_end` behind it.

"""


def phrase(text):
    """Code between double backquotes in single ones, the rest as text of a cell."""
    return "".join("`" + part.replace("|", "\\|") + "`" if k % 2 else cell(part)
                   for k, part in enumerate(text.split("``")))


def quantity_page(quantities):
    """MyST text of the page; quantities: as :func:`isocloth.quantities` returns them."""
    parts, of = [], None
    for q in quantities:
        if q["of"] != of:
            of = q["of"]
            parts.append(f"\n## {of}\n\n| number | unit | is | of several | metrics.csv | summary.json | plot |\n"
                         "|---|---|---|---|---|---|---|")
        is_ = phrase(q["doc"]) or q["label"] or q["name"].replace("_", " ")
        files = [f"`{q[key]}`" if q[key] else "" for key in ("column", "summary")]
        parts.append(f"| `{q['name']}` | {q['unit']} | {is_} | {q['rule']} | {' | '.join(files)} | {q['plot']} |")
    return HEAD + "\n".join(parts) + "\n"
