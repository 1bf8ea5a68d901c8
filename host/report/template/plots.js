// Curves over time as SVG, with one cursor for all.

const svg = (name, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const html = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

// Round numbers 1, 2 or 5 times a power of ten that divide [low, high] into about `count` parts.
function ticks(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= 0.75 * rough);
  const result = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); ++i) result.push(i * step);
  return result;
}

class Plot {
  // series: [{label, values}]; format: value to text; options: log, bars, bound {value, label}, fromZero
  constructor(title, times, series, format, options, onSeek) {
    Object.assign(this, { times, series, format, options, margin: { left: 52, right: 12, top: 10, bottom: 20 } });
    this.readouts = series.map(() => html("b"));
    this.legend = html("div", { class: "legend" }, ...series.map((s, i) =>
      html("span", { class: `ink-${i + 1}` }, html("i"), `${s.label} `, this.readouts[i])));
    this.cursor = html("div", { class: "cursor" });
    this.area = html("div", { class: "area" }, this.cursor);
    this.element = html("div", { class: "card plot" }, html("h3", {}, title), this.legend, this.area);
    const seek = (event) => {
      const box = this.area.getBoundingClientRect(), m = this.margin;
      const t = (event.clientX - box.left - m.left) / Math.max(1, box.width - m.left - m.right);
      onSeek(this.times[0] + Math.min(1, Math.max(0, t)) * this.span());
    };
    this.area.addEventListener("pointerdown", (event) => { this.area.setPointerCapture(event.pointerId); seek(event); });
    this.area.addEventListener("pointermove", (event) => { if (event.buttons & 1) seek(event); });
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  span() {
    return this.times[this.times.length - 1] - this.times[0] || 1;
  }

  setSeries(values) {
    this.series.forEach((s, i) => { s.values = values[i]; });
    this.draw();
  }

  // The range of finite values (positive ones on a log axis), with the bound in view.
  range() {
    let low = Infinity, high = -Infinity;
    const include = (value) => {
      if (!Number.isFinite(value) || (this.options.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const s of this.series) s.values.forEach(include);
    if (this.options.bound) include(this.options.bound.value);
    if (low > high) return this.options.log ? [1e-6, 1] : [0, 1];
    if (this.options.log) {
      // Rounding noise far below the rest would flatten the curve.
      low = Math.max(low, high * 1e-9);
      return [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high * 1.15))];
    }
    if (this.options.fromZero) low = Math.min(low, 0);
    if (high === low) high = low + (Math.abs(low) || 1);
    return [low === 0 ? 0 : low - 0.04 * (high - low), high + 0.06 * (high - low)];
  }

  draw() {
    const width = this.area.clientWidth, height = this.area.clientHeight, m = this.margin;
    if (!width || !height) return;
    const [low, high] = this.range(), log = this.options.log;
    const scaled = log ? (v) => Math.log10(v / low) / Math.log10(high / low) : (v) => (v - low) / (high - low);
    const x = (t) => m.left + ((t - this.times[0]) / this.span()) * (width - m.left - m.right);
    const y = (v) => height - m.bottom - scaled(v) * (height - m.top - m.bottom);
    const picture = svg("svg", { role: "img", "aria-label": this.element.querySelector("h3").textContent });

    let marks = log ? [] : ticks(low, high, 4);
    if (log) {
      const decades = Math.round(Math.log10(high / low)), every = Math.max(1, Math.ceil(decades / 5));
      for (let d = 0; d <= decades; d += every) marks.push(low * 10 ** d);
    }
    if (this.options.bars) marks = marks.filter((v) => Math.abs(v - Math.round(v)) < 1e-9);
    for (const v of marks) {
      picture.append(svg("line", { class: "gridline", x1: m.left, x2: width - m.right, y1: y(v), y2: y(v) }));
      const label = log ? `10${superscript(Math.round(Math.log10(v)))}` : this.format(v);
      picture.append(svg("text", { x: m.left - 7, y: y(v) + 4, "text-anchor": "end" }, label));
    }
    picture.append(svg("line", { class: "axis", x1: m.left, x2: width - m.right, y1: height - m.bottom, y2: height - m.bottom }));
    const begin = this.times[0], end = begin + this.span();
    for (const t of ticks(begin, end, Math.max(2, Math.floor(width / 75))))
      picture.append(svg("text", { x: x(t), y: height - 5, "text-anchor": "middle" }, `${formatNumber(t)} s`));

    this.series.forEach((s, i) => {
      let path = "", started = false;
      for (let k = 0; k < s.values.length; ++k) {
        const v = s.values[k];
        if (!Number.isFinite(v) || (log && v < low)) { started = false; continue; }
        const px = x(this.times[k]).toFixed(1), py = y(v).toFixed(1);
        path += !started ? `M${px} ${py}` : this.options.bars ? `H${px}V${py}` : `L${px} ${py}`;
        started = true;
      }
      if (started && s.values.length === 1) path += "h0";
      if (this.options.bars && path)
        picture.append(svg("path", { class: `filled ink-${i + 1}`, d: `${path}V${y(low)}H${x(begin)}Z` }));
      picture.append(svg("path", { class: `curve ink-${i + 1}`, d: path }));
    });
    const bound = this.options.bound;
    if (bound) {
      const by = y(bound.value);
      picture.append(svg("line", { class: "bound", x1: m.left, x2: width - m.right, y1: by, y2: by }));
      picture.append(svg("text", { class: "bound-label", x: width - m.right - 2, y: by - 5 < 12 ? by + 13 : by - 5, "text-anchor": "end" }, bound.label));
    }
    this.area.replaceChildren(picture, this.cursor);
    this.x = x;
    this.cursor.style.top = `${m.top}px`;
    this.cursor.style.height = `${height - m.top - m.bottom}px`;
    if (this.time !== undefined) this.setTime(this.time);
  }

  setTime(time) {
    this.time = time;
    const k = indexBefore(this.times, time + 1e-6 * this.span());
    this.series.forEach((s, i) => { this.readouts[i].textContent = this.format(s.values[k]); });
    if (this.x) this.cursor.style.transform = `translateX(${this.x(time)}px)`;
  }
}

// The plots of one group of columns (all garments or one), and how to show another group.
function makePlots(run, onSeek) {
  const total = (g) => g.kinetic.map((e, k) => e + g.potential[k] - g.potential[0]);
  const fromStart = (g) => g.potential.map((e) => e - g.potential[0]);
  const energy = (v) => `${formatNumber(v)} J`;
  const tolerance = run.summary.tolerance;
  const bound = tolerance > 0 ? { value: tolerance, label: `tolerance ${formatNumber(tolerance)}` } : undefined;
  const definitions = [
    ["Area error", formatPercent, { fromZero: true }, [
      ["total (19)", (g) => g.area_total], ["mean (20)", (g) => g.area_mean], ["dispersion (21)", (g) => g.area_dispersion]]],
    ["Largest area error of an element (22)", formatPercent, { fromZero: true }, [["size", (g) => g.area_element_max]]],
    ["Strain", formatPercent, { fromZero: true }, [["largest", (g) => g.strain_max], ["mean", (g) => g.strain_mean]]],
    ["Constraint residual", formatNumber, { log: true, bound }, [["largest row", (g) => g.residual]]],
    ["Iterations per frame", formatNumber, { bars: true, fromZero: true }, [["linear solves or sweeps", (g) => g.iterations]]],
    ["Energy, potential from its start", energy, {}, [["kinetic", (g) => g.kinetic], ["potential", fromStart], ["sum", total]]],
  ];
  const plots = definitions.map(([title, format, options, series]) =>
    new Plot(title, run.plots.times, series.map(([label, pick]) => ({ label, values: pick(run.plots.groups[0]) })), format, options, onSeek));
  return {
    elements: plots.map((plot) => plot.element),
    setTime: (time) => plots.forEach((plot) => plot.setTime(time)),
    setGroup: (index) => plots.forEach((plot, i) => plot.setSeries(definitions[i][3].map(([, pick]) => pick(run.plots.groups[index])))),
  };
}
