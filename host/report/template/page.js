// The page: header, tiles, transport, summary; what the address after # asks for.
// Options: frame=120 or time=1.2, color=area|strain|garment, scale=0.01, mesh=1, view=azimuth,elevation[,distance]
// in degrees, play=1, group=1, theme=light|dark, only=view, cloth=grid|place|number.

const run = decodeRun(JSON.parse(document.getElementById("run-data").textContent));
const $ = (id) => document.getElementById(id);
const { summary, playback } = run;
const frameCount = playback.times.length;
const state = { frame: 0, playing: false, speed: 1, coloring: "area", scales: {} };
let viewer = null, plots = null;

function fillHeader() {
  const violated = summary.steps_violated > 0;
  const tone = summary.status === "completed" ? (violated ? (summary.garments_frozen > 0 ? "bad" : "fair") : "good") : summary.status === "interrupted" ? "fair" : "bad";
  $("version").textContent = summary.version;
  $("scene").textContent = summary.scene;
  $("status").textContent = summary.status;
  $("status").classList.add(tone);
  $("how").textContent = [summary.recipe, summary.method, summary.metric && `metric ${summary.metric}`, summary.backend, summary.precision, summary.machine]
    .filter(Boolean).join(" · ").replaceAll("_", " ");
  const message = [summary.message, violated && summary.status === "completed" ? `${formatCount(summary.steps_violated)} garment steps missed the tolerance` : ""]
    .filter(Boolean).join("; ");
  $("message").hidden = !message;
  $("message").textContent = message;
  $("message").classList.add(tone);
}

function fillTiles() {
  const s = summary, met = s.tolerance > 0 && s.residual_max <= s.tolerance && s.residual_max !== null;
  const several = (n, one, many) => `${formatCount(n)} ${n === 1 ? one : many}`;
  const tile = (label, value, unit, note, tone) => html("div", { class: "tile" }, html("div", { class: "label" }, label),
    html("div", { class: "value" }, value, html("small", {}, unit ? ` ${unit}` : "")), html("div", { class: `note ${tone || ""}` }, note));
  const split = (text) => { const at = text.lastIndexOf(" "); return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]; };
  $("tiles").append(
    tile("Iterations per step", formatNumber(s.iterations_per_step_mean), "mean", `${formatCount(s.iterations_per_step_max)} at most`),
    tile("Largest strain", ...split(formatPercent(s.strain_max)), `${formatPercent(s.strain_mean)} mean`),
    tile("Largest residual", formatNumber(s.residual_max), "",
      s.tolerance > 0 ? `${met ? "within" : "above"} tolerance ${formatNumber(s.tolerance)}` : "no tolerance set", s.tolerance > 0 ? (met ? "good" : "bad") : ""),
    tile("Speed", `${formatNumber(s.realtime_factor, s.realtime_factor < 1 ? 2 : 3)}×`, "real time", `${formatSeconds(s.simulated_seconds)} in ${formatSeconds(s.wall_seconds)}`),
    tile("Nodes", formatCount(s.node_count), "", s.garment_count > 1 ? `in ${formatCount(s.garment_count)} garments` : several(s.element_count, "element", "elements")),
    tile("Rows", formatCount(s.row_count), "", "constraints"));
}

function fillSummary() {
  const count = formatCount, text = String;
  const tables = [
    ["Run", { status: ["status", text], message: ["message", text], scene: ["scene", text], recipe: ["recipe", text], method: ["method", text],
      metric: ["metric", text], seed: ["seed", text], version: ["version", text] }],
    ["Size", { garment_count: ["garments", count], node_count: ["nodes", count], element_count: ["elements", count], row_count: ["rows", count],
      step_count: ["steps", count], frame_count: ["frames", count], frames_of: ["garments with frames", count], step: ["time step", formatSeconds], memory_bytes: ["memory", formatBytes] }],
    ["Exactness", { tolerance: ["tolerance", formatNumber], residual_max: ["largest residual", formatNumber], steps_violated: ["garment steps over tolerance", count],
      garments_stalled: ["garments over tolerance", count], fallbacks: ["parts of steps left to sweeps", count], garments_frozen: ["garments frozen", count],
      strain_max: ["largest strain", formatPercent], strain_mean: ["mean strain", formatPercent], area_error_total_max: ["total area error (19), largest", formatPercent],
      area_error_element_mean_max: ["mean area error (20), largest", formatPercent], area_error_element_max: ["area error of an element (22), largest", formatPercent],
      iterations_per_step_mean: ["iterations per step, mean", formatNumber], iterations_per_step_max: ["iterations per step, largest", count] }],
    ["Time and machine", { simulated_seconds: ["simulated time", formatSeconds], wall_seconds: ["wall time", formatSeconds], setup_seconds: ["set-up time", formatSeconds],
      realtime_factor: ["real-time factor", formatNumber], backend: ["backend", text], precision: ["precision", text], solver: ["linear solver", text], threads: ["threads", count], machine: ["machine", text] }],
  ];
  const known = new Set(tables.flatMap(([, rows]) => Object.keys(rows)));
  const others = Object.keys(summary).filter((key) => !known.has(key));
  if (others.length) tables.push(["Other", Object.fromEntries(others.map((key) => [key, [key.replaceAll("_", " "), text]]))]);
  for (const [title, rows] of tables) {
    const table = html("table", {}, html("caption", {}, title));
    for (const [key, [label, format]] of Object.entries(rows))
      if (summary[key] !== "" && summary[key] !== undefined)
        table.append(html("tr", {}, html("th", { scope: "row" }, label), html("td", {}, summary[key] === null ? "not finite" : format(summary[key]))));
    $("summary").append(table);
  }
}

function fillNotes() {
  const notes = ["Numbers in brackets are equations of Coltraro 2022. Drag turns the view, the wheel zooms, the right button moves; space plays, ← → step a frame, W shows the mesh, R resets the view; a click in a plot goes to that time."];
  const fine = Math.max(...playback.boxSize) / 65535 / 2;
  notes.push(`Positions in the playback are rounded to ${formatNumber(fine * 1e6, 2)} µm; colours and plots come from the unrounded positions.`);
  if (frameCount < run.frameCount) notes.push(`To keep this file small the playback shows ${formatCount(frameCount)} of ${formatCount(run.frameCount)} frames, evenly chosen.`);
  if (run.garments.length < run.garmentNames.length) notes.push(`It shows the first ${formatCount(run.garments.length)} of ${formatCount(run.garmentNames.length)} garments; the plots are of all.`);
  if (run.clockCount > 1) notes.push("Garments have clocks of their own: in place, obstacles are where the first garment meets them.");
  if (run.garmentNames.length > 1) notes.push("Plots of all garments show the worst garment, the mean of the mean strains and the sum of the energies.");
  if (run.plots.framesPerSample > 1) notes.push(`Each point of a plot is the worst of ${run.plots.framesPerSample} frames.`);
  $("notes").textContent = notes.join(" ");
}

// The smallest round scale that leaves at most 2 % of the values outside.
const scaleChoices = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
function automaticScale(bytes, stored) {
  const counts = new Float64Array(128);
  for (const byte of bytes) ++counts[Math.min(127, byte > 127 ? 256 - byte : byte)];
  let outside = 0, level = 127;
  while (level > 1 && (outside += counts[level]) <= 0.02 * bytes.length) --level;
  return scaleChoices.find((choice) => choice >= decodeSigned(level) * stored) || 1;
}

function setColoring(coloring, scale) {
  state.coloring = coloring;
  if (scale) state.scales[coloring] = scale;
  for (const button of $("coloring").children) button.setAttribute("aria-pressed", button.dataset.color === coloring);
  $("colorbar").hidden = coloring === "garment" || !viewer;
  if (coloring !== "garment") {
    const value = state.scales[coloring];
    $("colorbar-title").textContent = coloring === "area" ? "Area error of an element (22)" : "Largest edge strain at a node";
    $("colorbar-low").textContent = `−${formatPercent(value)}`;
    $("colorbar-high").textContent = `+${formatPercent(value)}`;
    $("scale").value = String(value);
  }
  if (viewer) viewer.setColoring(coloring, state.scales[coloring] || 1);
}

const playIcons = { play: "M7 4v16l13-8z", pause: "M6 4h4.5v16H6zM13.5 4H18v16h-4.5z" };
function setPlaying(playing) {
  state.playing = playing && frameCount > 1;
  $("play-icon").setAttribute("d", state.playing ? playIcons.pause : playIcons.play);
  state.clock = undefined;
  if (state.playing) requestAnimationFrame(advance);
  else showFrame(Math.round(state.frame));
}

function timeOf(frame) {
  const k = Math.min(Math.floor(frame), frameCount - 1), next = Math.min(k + 1, frameCount - 1);
  return playback.times[k] + (frame - k) * (playback.times[next] - playback.times[k]);
}
function frameOf(time) {
  const k = indexBefore(playback.times, time);
  return k + 1 < frameCount ? Math.min(k + 1, k + Math.max(0, (time - playback.times[k]) / (playback.times[k + 1] - playback.times[k]))) : k;
}

function advance(now) {
  if (!state.playing) return;
  if (state.clock !== undefined) {
    const last = playback.times[frameCount - 1];
    const time = timeOf(state.frame) + (state.speed * Math.min(100, now - state.clock)) / 1000;
    showFrame(time > last ? 0 : frameOf(time));
  }
  state.clock = now;
  requestAnimationFrame(advance);
}

function showFrame(frame) {
  state.frame = Math.min(frameCount - 1, Math.max(0, frame));
  const nearest = Math.round(state.frame), time = timeOf(state.frame);
  $("slider").value = nearest;
  $("clock").replaceChildren(html("b", {}, `${time.toFixed(2)} s`),
    ` of ${playback.times[frameCount - 1].toFixed(2)} s · frame ${playback.frames[nearest]} of ${run.frameCount - 1}`);
  if (viewer) viewer.show(state.frame);
  plots.setTime(time);
}

function seek(frame) {
  if (state.playing) setPlaying(false);
  showFrame(Math.round(frame));
}

function markBadFrames() {
  const { times, groups } = run.plots, span = times[times.length - 1] - times[0] || 1, width = Math.max(3, 1000 / times.length);
  groups[0].status.forEach((status, k) => {
    if (status > 0) $("marks").append(svg("rect", { x: (1000 * (times[k] - times[0])) / span - width / 2, y: 0, width, height: 4 }));
  });
}

function showMesh(visible) {
  $("mesh").setAttribute("aria-pressed", visible);
  if (viewer) viewer.showMesh(visible);
}

// Garments where they are, side by side, or one of them.
function showCloths(arrangement) {
  $("cloth").value = String(arrangement);
  if (viewer) viewer.dispose();
  viewer = null;
  viewer = new Viewer($("stage"), run, arrangement);
  setColoring(state.coloring, state.scales[state.coloring]);
  showMesh($("mesh").getAttribute("aria-pressed") === "true");
  viewer.show(state.frame);
}
const arrangementOf = (word) => (/^\d+$/.test(word) ? Number(word) : word);

function connect() {
  $("cloth").addEventListener("change", () => viewer && showCloths(arrangementOf($("cloth").value)));
  $("coloring").addEventListener("click", (event) => { if (event.target.dataset.color) setColoring(event.target.dataset.color); });
  $("scale").addEventListener("change", () => setColoring(state.coloring, Number($("scale").value)));
  $("mesh").addEventListener("click", () => showMesh($("mesh").getAttribute("aria-pressed") !== "true"));
  $("reset").addEventListener("click", () => viewer && viewer.resetView());
  $("play").addEventListener("click", () => setPlaying(!state.playing));
  $("back").addEventListener("click", () => seek(state.frame - 1));
  $("forward").addEventListener("click", () => seek(state.frame + 1));
  $("slider").addEventListener("input", () => seek(Number($("slider").value)));
  $("speed").addEventListener("change", () => { state.speed = Number($("speed").value); });
  $("group").addEventListener("change", () => plots.setGroup(Number($("group").value)));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const actions = { " ": () => setPlaying(!state.playing), ArrowLeft: () => seek(state.frame - 1), ArrowRight: () => seek(state.frame + 1),
      Home: () => seek(0), End: () => seek(frameCount - 1), w: () => $("mesh").click(), r: () => $("reset").click() };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => viewer && viewer.applyTheme());
}

function applyAddress() {
  const options = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (options.has(name) && Number.isFinite(Number(options.get(name))) ? Number(options.get(name)) : undefined);
  if (options.has("theme")) document.documentElement.style.colorScheme = options.get("theme");
  document.body.classList.toggle("only-view", options.get("only") === "view");
  if (viewer) viewer.applyTheme();
  const coloring = ["area", "strain", "garment"].includes(options.get("color")) ? options.get("color") : state.coloring;
  setColoring(coloring, scaleChoices.find((choice) => choice >= number("scale")));
  showMesh(options.get("mesh") === "1");
  const cloth = options.get("cloth");
  if (viewer && cloth && [...$("cloth").options].some((option) => option.value === cloth)) showCloths(arrangementOf(cloth));
  const view = (options.get("view") || "").split(",").map(Number);
  if (viewer && view.length >= 2 && view.every(Number.isFinite)) viewer.setView(...view);
  if (number("group") < run.plots.groups.length) { $("group").value = String(number("group")); plots.setGroup(number("group")); }
  const frame = number("frame"), time = number("time");
  if (frame !== undefined) seek(indexBefore(playback.frames, frame));
  else if (time !== undefined) seek(frameOf(time));
  const asked = frame !== undefined || time !== undefined;
  setPlaying(options.has("play") ? options.get("play") === "1" : !asked && !matchMedia("(prefers-reduced-motion: reduce)").matches && viewer !== null);
}

function start() {
  fillHeader();
  fillTiles();
  fillSummary();
  fillNotes();
  plots = makePlots(run, (time) => seek(frameOf(time)));
  $("plots").append(...plots.elements);
  if (run.plots.groups.length > 1) {
    ["all, worst", ...run.garmentNames].forEach((name, i) => $("group").append(html("option", { value: i }, name)));
    $("group-label").hidden = false;
  }
  for (const choice of scaleChoices) $("scale").append(html("option", { value: choice }, `± ${formatPercent(choice)}`));
  state.scales = { area: automaticScale(playback.areaErrors, playback.areaScale), strain: automaticScale(playback.edgeStrains, playback.strainScale) };
  $("colorbar-strip").style.background = `linear-gradient(to right, ${diverging.map(([at, color]) => `${color} ${100 * at}%`).join(", ")})`;
  $("slider").max = frameCount - 1;
  if (run.garments.length > 1) {
    const choices = [["place", "in place"], ["grid", "side by side"], ...run.garments.map((garment, g) => [g, garment.name])];
    for (const [value, name] of choices) $("cloth").append(html("option", { value }, name));
    $("cloth-label").hidden = false;
  }
  try {
    const arrangement = garmentsCoincide(run) ? "grid" : "place";
    viewer = new Viewer($("stage"), run, arrangement);
    $("cloth").value = arrangement;
  } catch (error) {
    console.warn(`no 3D view: ${error.message}`);
    $("no-webgl").hidden = false;
    $("stage").classList.add("absent");
    document.querySelector(".overlay").hidden = true;
  }
  markBadFrames();
  connect();
  showFrame(0);
  applyAddress();
  window.addEventListener("hashchange", applyAddress);
}

start();
