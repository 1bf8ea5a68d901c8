// The page: colouring, playback, saving; what the address after # asks for.
// Options: frame=120 or time=1.2, color=fabric|checks|element|edge|area|von_mises|warp|weft|shear|contact,
// scale=0.01 (of a stress in N/m, of contacts in N/m²), mesh=1, pattern=0|1,
// view=azimuth,elevation[,distance] in degrees, play=1, group=1, theme=light|dark, only=view,
// cloth=together|page:0|number.

const run = decodeRun(JSON.parse($("run-data").textContent));
const { summary, playback } = run;
const frameCount = playback.times.length;
const state = { frame: 0, playing: false, speed: 1, coloring: "fabric", stress: "von_mises", scales: {}, pattern: undefined, recorder: null };
let viewer = null, plots = null, pattern = null;

const colorings = {
  fabric: "",
  checks: `Checks of ${formatLength(checkSize(run))} in warp and weft`,
  element: "Principal strain of elements",
  edge: "Largest edge strain at a node",
  area: "Area error of elements (22)",
  contact: "Pressure of cloth on cloth, both sides together",
  von_mises: "Stress", warp: "Stress", weft: "Stress", shear: "Stress",
};
const stressNames = { von_mises: "von Mises", warp: "along warp", weft: "along weft", shear: "in shear" };
const isStress = (coloring) => coloring in stressNames;
const formatError = (errors, value, digits) => (errors.unit ? formatUnit(value, errors.unit, digits) : formatPercent(value, digits));

function fillHeader() {
  $("version").textContent = summary.version || "";
  $("scene").textContent = summary.scene || "";
  $("how").textContent = [summary.recipe, summary.method, summary.metric && `metric ${summary.metric}`, summary.backend, summary.precision, summary.machine]
    .filter(Boolean).join(" · ").replaceAll("_", " ");
}

// The smallest round scale that leaves at most 2 % of the values outside.
const scaleChoices = [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const tensionChoices = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((k) => Number(`${k}e${power}`)));
const choicesOf = (errors) => (errors.unit ? tensionChoices : scaleChoices);
function automaticScale(errors) {
  const { bytes, scale } = errors, choices = choicesOf(errors);
  const counts = new Float64Array(128);
  for (const byte of bytes) ++counts[Math.min(127, byte > 127 ? 256 - byte : byte)];
  const count = errors.isSparse ? bytes.length - counts[0] : bytes.length;
  let outside = 0, level = 127;
  while (level > 1 && (outside += counts[level]) <= 0.02 * count) --level;
  return choices.find((choice) => choice >= decodeSigned(level) * scale) || choices[choices.length - 1];
}

function setColoring(coloring, scale) {
  state.coloring = coloring;
  if (isStress(coloring)) state.stress = $("component").value = coloring;
  if (scale) state.scales[coloring] = scale;
  for (const button of $("coloring").children) button.setAttribute("aria-pressed", button.dataset.color === (isStress(coloring) ? "stress" : coloring));
  const errors = run.errors[coloring] || null, value = state.scales[coloring];
  $("colorbar").hidden = coloring === "fabric" || !viewer;
  $("colorbar").classList.toggle("plain", !errors);
  $("colorbar-title").textContent = colorings[coloring];
  $("component").hidden = !isStress(coloring);
  $("probe").textContent = "";
  if (errors) {
    const sign = errors.isPositive ? "to " : "± ";
    $("colorbar-low").textContent = errors.isPositive ? "0" : `−${formatError(errors, value)}`;
    $("colorbar-high").textContent = `${errors.isPositive ? "" : "+"}${formatError(errors, value)}`;
    $("colorbar-strip").style.background = `linear-gradient(to right, ${paletteOf(errors).map(([at, color]) => `${color} ${100 * at}%`).join(", ")})`;
    $("scale").replaceChildren(...choicesOf(errors).map((choice) => html("option", { value: choice }, `${sign}${formatError(errors, choice)}`)));
    $("scale").value = String(value);
  }
  if (viewer) viewer.setColoring(errors, value || 1, coloring === "checks");
  showPattern();
}

// Unless the reader says otherwise the pattern is there with stresses, where there is room beside the cloth.
function showPattern(wanted) {
  if (wanted !== undefined) state.pattern = wanted;
  if (!pattern) return;
  const isWanted = state.pattern === undefined ? isStress(state.coloring) && viewer.cells.length === 1 && $("stage").clientWidth > 640 : state.pattern;
  const isShown = isWanted && Boolean(run.errors[state.coloring]);
  $("flat").disabled = !run.errors[state.coloring];  // it shows colours
  $("flat").setAttribute("aria-pressed", isShown);
  $("pattern").hidden = !isShown;
  pattern.draw();
}

// The colour scale of the moment, for pictures.
const legend = () => run.errors[state.coloring]
  && { title: [$("colorbar-title").textContent, isStress(state.coloring) && stressNames[state.coloring]].filter(Boolean).join(" "),
    low: $("colorbar-low").textContent, middle: run.errors[state.coloring].isPositive ? "" : "0", high: $("colorbar-high").textContent,
    inks: paletteOf(run.errors[state.coloring]), pattern: $("pattern").hidden ? null : pattern.canvas };

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
    if (time > last && state.recorder) {
      showFrame(frameCount - 1);
      stopRecording();
      return;
    }
    showFrame(time > last ? 0 : frameOf(time));
  }
  state.clock = now;
  requestAnimationFrame(advance);
}

function showFrame(frame) {
  state.frame = Math.min(frameCount - 1, Math.max(0, frame));
  const nearest = Math.round(state.frame), time = timeOf(state.frame), last = playback.times[frameCount - 1];
  $("slider").value = nearest;
  $("clock").replaceChildren(html("b", {}, `${time.toFixed(2)} s`), html("span", {}, ` of ${last.toFixed(2)} s`),
    html("span", { class: "long" }, ` · frame ${playback.frames[nearest]} of ${run.frameCount - 1}`));
  if (state.recorder) $("webm-text").textContent = `${Math.round((100 * time) / (last || 1))} %`;
  if (viewer) viewer.show(state.frame);
  plots.setTime(time);
}

function seek(frame) {
  if (state.playing) setPlaying(false);
  showFrame(Math.round(frame));
}

// Plays from the start to the end once, at the chosen speed, while every picture is taken down.
function startRecording() {
  showFrame(0);
  state.recorder = new Recorder(viewer, fileName(summary.scene || ""), legend);
  state.recorder.start();
  $("webm").setAttribute("aria-pressed", "true");
  setPlaying(true);
}

function stopRecording() {
  const { recorder } = state;
  state.recorder = null;
  $("webm").setAttribute("aria-pressed", "false");
  $("webm-text").textContent = "Video";
  setPlaying(false);
  // The last picture is drawn at the next refresh.
  requestAnimationFrame(() => requestAnimationFrame(() => recorder.stop()));
}

function markBadFrames() {
  const { times, groups } = run.plots, span = times[times.length - 1] - times[0] || 1, width = Math.max(3, 1000 / times.length);
  groups[0].status.forEach((status, k) => {
    if (status > 0 && status < 4) $("marks").append(svg("rect", { x: (1000 * (times[k] - times[0])) / span - width / 2, y: 0, width, height: 4 }));
  });
}

function showMesh(visible) {
  $("mesh").setAttribute("aria-pressed", visible);
  if (viewer) viewer.showMesh(visible);
}

const arrangementOf = (word) => (/^\d+$/.test(word) ? Number(word) : word);
function showCloths(arrangement) {
  $("cloth").value = String(arrangement);
  if (viewer) viewer.arrange(arrangement);
  showPattern();
}

function fillCloths() {
  const count = run.garments.length, pages = Math.ceil(count / cellsPerPage);
  const choices = [["together", "together"]];
  for (let page = 0; page < pages; ++page)
    choices.push([`page:${page}`, pages === 1 ? "side by side" : `side by side ${page * cellsPerPage + 1}–${Math.min(count, (page + 1) * cellsPerPage)}`]);
  for (const [value, name] of [...choices, ...run.garments.map((garment, g) => [g, garment.name])])
    $("cloth").append(html("option", { value }, name));
  $("cloth").hidden = count < 2;
}

function connect() {
  $("cloth").addEventListener("change", () => showCloths(arrangementOf($("cloth").value)));
  $("coloring").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) setColoring(button.dataset.color === "stress" ? state.stress : button.dataset.color);
  });
  $("component").addEventListener("change", () => setColoring($("component").value));
  $("flat").addEventListener("click", () => showPattern($("pattern").hidden));
  $("scale").addEventListener("change", () => setColoring(state.coloring, Number($("scale").value)));
  $("mesh").addEventListener("click", () => showMesh($("mesh").getAttribute("aria-pressed") !== "true"));
  $("reset").addEventListener("click", () => viewer && viewer.resetView());
  $("png").addEventListener("click", () => viewer && savePicture(viewer, fileName(summary.scene || ""), legend()));
  $("webm").addEventListener("click", () => (state.recorder ? stopRecording() : viewer && startRecording()));
  $("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  $("play").addEventListener("click", () => setPlaying(!state.playing));
  $("back").addEventListener("click", () => seek(state.frame - 1));
  $("forward").addEventListener("click", () => seek(state.frame + 1));
  $("slider").addEventListener("input", () => seek(Number($("slider").value)));
  $("speed").addEventListener("change", () => { state.speed = Number($("speed").value); });
  $("group").addEventListener("change", () => plots.setGroup(Number($("group").value)));
  $("stage").addEventListener("pointermove", (event) => {
    const box = $("stage").getBoundingClientRect();
    const error = viewer && !event.buttons ? viewer.errorAt(event.clientX - box.left, event.clientY - box.top) : undefined;
    $("probe").textContent = error === undefined ? "" : `here ${error > 0 && !run.errors[state.coloring].isPositive ? "+" : ""}${formatError(run.errors[state.coloring], error, 2)}`;
  });
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|TEXTAREA|BUTTON)$/.test(event.target.tagName)) return;
    const actions = { " ": () => setPlaying(!state.playing), ArrowLeft: () => seek(state.frame - 1), ArrowRight: () => seek(state.frame + 1),
      Home: () => seek(0), End: () => seek(frameCount - 1), w: () => $("mesh").click(), p: () => $("flat").click(), r: () => $("reset").click() };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => viewer && viewer.applyTheme());
}

const isDark = () => themeColor("--ground").getHSL({}).l < 0.5;
function setTheme(theme) {
  document.documentElement.style.colorScheme = theme;
  if (viewer) viewer.applyTheme();
}

function applyAddress() {
  const options = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (options.has(name) && Number.isFinite(Number(options.get(name))) ? Number(options.get(name)) : undefined);
  if (options.has("theme")) setTheme(options.get("theme"));
  document.body.classList.toggle("only-view", options.get("only") === "view");
  const asks = options.get("color") in run.errors || ["fabric", "checks"].includes(options.get("color"));
  const coloring = asks ? options.get("color") : state.coloring, errors = run.errors[coloring];
  if (options.has("pattern")) state.pattern = options.get("pattern") === "1";
  setColoring(coloring, errors && choicesOf(errors).find((choice) => choice >= number("scale")));
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
  fillBanner(summary);
  fillTiles(summary);
  fillSummary(summary, run.summaryTables);
  fillNotes(run);
  plots = makePlots(run, (time) => seek(frameOf(time)));
  $("plots").append(...plots.elements);
  if (run.plots.groups.length > 1) {
    ["all, worst", ...run.garmentNames].forEach((name, i) => $("group").append(html("option", { value: i }, name)));
    $("group-label").hidden = false;
  }
  for (const [name, errors] of Object.entries(run.errors)) state.scales[name] = automaticScale(errors);
  for (const [name, title] of Object.entries(stressNames)) $("component").append(html("option", { value: name }, title));
  $("coloring").querySelector("[data-color=stress]").hidden = !run.errors.von_mises;
  $("coloring").querySelector("[data-color=contact]").hidden = !run.errors.contact;
  $("slider").max = frameCount - 1;
  fillCloths();
  try {
    viewer = new Viewer($("stage"), run);
    viewer.onChoose = showCloths;
    pattern = new Pattern($("pattern"), viewer);
    showCloths(garmentsCoincide(run) ? "page:0" : "together");
    $("webm").hidden = !Recorder.type() || frameCount < 2;
  } catch (error) {
    console.warn(`no 3D view: ${error.message}`);
    viewer = pattern = null;
    $("no-webgl").hidden = false;
    $("stage").classList.add("absent");
    $("toolbar").hidden = true;
  }
  markBadFrames();
  connect();
  showFrame(0);
  applyAddress();
  window.addEventListener("hashchange", applyAddress);
}

start();
