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
    tables = {}
    for q in quantities:
        label = q["label"] or q["name"].replace("_", " ")  # what the page of a result calls it
        words = [phrase(q["doc"])] if q["doc"] else []
        meaning = ": ".join([label, *words] if q["of"] == "RunSummary" or not words else words)
        files = [f"`{q[key]}`" if q[key] else "" for key in ("column", "summary")]
        row = f"| `{q['name']}` | {q['unit']} | {meaning} | {q['rule']} | {' | '.join(files)} | {q['plot']} |\n"
        tables[q["of"]] = tables.get(q["of"], "") + row
    head = "| number | unit | is | of several | metrics.csv | summary.json | plot |\n|---|---|---|---|---|---|---|\n"
    return HEAD + "\n".join(f"## {of}\n\n{head}{rows}" for of, rows in tables.items())
