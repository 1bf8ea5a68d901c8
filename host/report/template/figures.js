// What the run is worth in figures: banner, tiles, tables.

// How the run ended: tone, title and what there is to say.
function verdict(s) {
  const steps = isNumber(s.step_count) ? s.step_count * (s.garment_count || 1) : 0, of = s.garment_count > 1 ? "garment steps" : "steps";
  const missed = s.steps_violated > 0 ? `${formatCount(s.steps_violated)} of ${formatCount(steps)} ${of} missed the tolerance of ${formatNumber(s.tolerance)}.` : "";
  const cut = s.steps_cut > 0 ? `, but ${formatCount(s.steps_cut)} that their budget cut,` : "";
  const kept = s.tolerance > 0 ? `All ${formatCount(steps)} ${of}${cut} kept their rows within the tolerance of ${formatNumber(s.tolerance)}.` : "";
  const first = (s.first_intersections || [])[0];
  const crossing = s.steps_intersecting > 0 ? `Cloth passes through cloth at the end of ${formatCount(s.steps_intersecting)} of ${formatCount(s.steps_certified)} certified steps${first ? `, first at ${formatSeconds(first.time)}` : ""}.` : "";
  const inPlane = s.steps_overlapping > 0 ? `Cloth lies in cloth, in one plane to the last bit, at the end of ${formatCount(s.steps_overlapping)} of ${formatCount(s.steps_certified)} certified steps.` : "";
  const through = [crossing, inPlane].filter(Boolean).join(" ");
  const title = String(s.status || "unknown").replace(/^./, (c) => c.toUpperCase());
  const message = s.message ? `${s.message.replace(/^./, (c) => c.toUpperCase())}.`.replace("..", ".") : "";
  if (s.garments_frozen > 0) {
    const frozen = `${formatCount(s.garments_frozen)} of ${formatCount(s.garment_count)} garments`;
    return { tone: "bad", title: "Frozen", lines: [message || `${frozen} froze at their last finite state.`, missed, through] };
  }
  if (["failed", "diverged"].includes(s.status)) return { tone: "bad", title, lines: [message, missed, through] };
  if (missed || s.status === "stopped" || s.status === "violated") return { tone: "fair", title: s.status === "completed" ? "Violated" : title, lines: [missed, message, through] };
  if (s.status === "completed") return { tone: through ? "fair" : "good", title, lines: [kept, message, through] };
  return { tone: "fair", title, lines: [message, through] };
}

const toneIcons = {
  good: "M20.3 6.7 9.5 17.5l-5.8-5.8 1.6-1.6 4.2 4.2 9.2-9.2z",
  fair: "M12 2.5 22.5 21h-21zM11 9.5v5.2h2V9.5zm0 6.9v2h2v-2z",
  bad: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 5h2v7h-2zm0 8.7h2v2.1h-2z",
};

function fillBanner(s) {
  const { tone, title, lines } = verdict(s);
  const icon = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  icon.append(svg("path", { d: toneIcons[tone], "fill-rule": "evenodd" }));
  $("banner").className = `banner ${tone}`;
  $("banner").replaceChildren(icon, html("p", {}, html("b", {}, title), ` ${lines.filter(Boolean).join(" ")}`));
}

// label, value with unit, note, and the share of a bound that is used up.
function tile(label, value, note, { tone = "", share, unit } = {}) {
  const [number, small] = unit ? [value, unit] : splitUnit(value);
  const element = html("div", { class: "tile" }, html("div", { class: "label" }, label),
    html("div", { class: "value" }, html("span", {}, number), ...(small ? [html("small", {}, small)] : [])),
    html("div", { class: `note ${tone}` }, note));
  if (share !== undefined) element.append(html("div", { class: `meter ${tone}`, style: `--share: ${(100 * Math.min(1, share)).toFixed(1)}%` }));
  return element;
}

function fillTiles(s) {
  const has = (key) => s[key] !== undefined, measuresElements = has("stretch_max");
  const percentTile = (key, label, note) => (has(key) ? [tile(label, formatPercent(s[key]), note)] : []);
  const parts = (...pairs) => pairs.filter(([key]) => has(key)).map(([key, word]) => `${word} ${formatPercent(s[key])}`).join(" · ");
  const met = isNumber(s.residual_max) && s.residual_max <= s.tolerance, bounded = s.tolerance > 0;
  const touched = s.penetration_max > 0 || s.contact_count_max > 0;
  const groups = [
    ["Measured on the cloth", [
      ...percentTile("strain_max", measuresElements ? "Edge strain" : "Strain", parts(["strain_p95", "p95"], ["strain_mean", "mean"])),
      ...percentTile("thread_strain_max", "Thread strain", parts(["thread_strain_p95", "p95"])),
      ...percentTile("shear_max", "Shear", parts(["shear_p95", "p95"])),
      ...percentTile("stretch_max", "Element stretch", parts(["stretch_p95", "p95"])),
      ...percentTile("compression_max", "Element compression", "largest, any step"),
      ...(s.seam_opening > 0 ? [tile("Seam opening", formatLength(s.seam_opening), "widest, at the end")] : []),
      ...percentTile("area_error_total_max", "Area error", parts(["area_error_element_max", "element"])),
    ]],
    ["Held by the solver", [
      ...percentTile("row_strain_max", "Strain of rows", "what the rows bound"),
      tile("Residual of rows", formatNumber(s.residual_max), bounded ? `${met ? "within" : "above"} tolerance ${formatNumber(s.tolerance)}` : "no tolerance set",
        bounded ? { tone: met ? "good" : "bad", share: isNumber(s.residual_max) ? s.residual_max / s.tolerance : 1 } : {}),
      ...(touched ? [tile("Penetration", formatLength(s.penetration_max), "deepest, any step")] : []),
    ]],
    ["Cost", [
      tile("Speed", formatNumber(s.realtime_factor), `${formatSeconds(s.simulated_seconds)} in ${formatSeconds(s.wall_seconds)}`, { unit: "× real time" }),
      tile("Iterations per step", formatNumber(s.iterations_per_step_mean), `at most ${formatCount(s.iterations_per_step_max)}`),
      tile("Nodes", formatCount(s.node_count), s.garment_count > 1 ? `${formatCount(s.garment_count)} garments` : `${formatCount(s.element_count)} elements`),
      tile("Rows", formatCount(s.row_count), "constraints"),
    ]],
  ];
  for (const [title, tiles] of groups)
    $("tiles").append(html("div", { class: "group", style: `flex-grow: ${Math.ceil(tiles.length / 2)}` }, html("h2", {}, title), html("div", { class: "tiles" }, ...tiles)));
}

function formatValue(unit, value) {
  if (value === null) return "not finite";
  if (typeof value === "number") return formatBy(unit, value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((item) => formatValue(unit, item)).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([name, item]) => `${name}: ${formatValue(unit, item)}`).join(", ");
  return String(value);
}

const readable = (key) => key.replaceAll("_", " ");

// Numbers by name: one row each; lists of numbers take a column each.
function nestedTable({ key, label, unit }, values) {
  const isPose = key === "body_poses", table = html("table", { class: "nested" }, html("caption", {}, label || readable(key)));
  if (isPose) table.append(html("tr", {}, ...["", "x [m]", "y [m]", "z [m]", "turned"].map((head) => html("th", { scope: "col" }, head))));
  for (const [name, value] of Object.entries(values)) {
    let cells = [formatValue(unit, value)];
    if (isPose && Array.isArray(value) && value.length === 7) {
      const degrees = (360 / Math.PI) * Math.acos(Math.min(1, Math.abs(value[6])));
      cells = [...value.slice(0, 3).map((x) => minus(x.toFixed(3))), `${degrees.toFixed(0)}°`];
    }
    table.append(html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell))));
  }
  return html("div", { class: "table" }, table);
}

function fillSummary(s, tables) {
  for (const { title, rows } of tables) {
    const table = html("table", {}, html("caption", {}, title)), nested = [];
    for (const row of rows) {
      const value = s[row.key];
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        if (Object.keys(value).length > 0) nested.push(nestedTable(row, value));
      } else if (value !== undefined && String(value) !== "")
        table.append(html("tr", {}, html("th", { scope: "row" }, row.label || readable(row.key)), html("td", {}, formatValue(row.unit, value))));
    }
    if (table.rows.length > 0) $("summary").append(html("div", { class: "table" }, table));
    $("summary").append(...nested);
  }
}

function fillNotes(run) {
  const notes = ["Numbers in brackets are equations of Coltraro 2022. Drag turns the view, the right button moves it, the wheel zooms once it has been clicked; space plays, ← → step a frame, W shows the mesh, R resets the view; a click in a plot goes to that time."];
  const fine = Math.max(...run.playback.boxSize) / 65535 / 2;
  notes.push(`Positions in the playback are rounded to ${formatLength(fine)}; colours and plots come from the unrounded positions.`);
  if (run.errors.von_mises)
    notes.push("Stress is what the fabric's law answers to the strain of a frame, in N per m of the rest shape (second Piola and Kirchhoff: times the stretch of a thread it is the thread's force per width), without viscosity and strain limits; pull is positive, von Mises' is √(su² − su sv + sv² + 3 suv²). P shows the flat pattern.");
  if (run.errors.contact)
    notes.push("Pressure of cloth on cloth is the sum of the sizes of the forces of contacts at a node over its area in the rest shape: of a layer between two others that of both sides.");
  const frames = run.playback.times.length;
  if (frames < run.frameCount) notes.push(`To keep this file small the playback shows ${formatCount(frames)} of ${formatCount(run.frameCount)} frames, evenly chosen.`);
  if (run.garments.length < run.garmentNames.length) notes.push(`It shows the first ${formatCount(run.garments.length)} of ${formatCount(run.garmentNames.length)} garments; the plots are of all.`);
  if (run.clockCount > 1) notes.push("Garments have clocks of their own: together, obstacles are where the first garment meets them.");
  if (run.garmentNames.length > 1) notes.push("Plots of all garments show the worst garment and the sum of the energies.");
  if (run.plots.framesPerSample > 1) notes.push(`Each point of a plot is the worst of ${run.plots.framesPerSample} frames.`);
  $("notes").textContent = notes.join(" ");
}
