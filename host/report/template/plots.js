// Curves over time as SVG, with one cursor for all.

class Plot {
  // series: [{label, values}]; kind: its unit, "1" of a ratio in per cent; options: log, bars, bound {value, label}, fromZero, stacked:
  // each on top of those before it, losses and gains apart
  constructor(title, times, series, kind, format, options, onSeek) {
    Object.assign(this, { times, series, kind, format, options, margin: { left: 46, right: 12, top: 20, bottom: 20 } });
    this.readouts = series.map(() => html("b"));
    this.legend = html("div", { class: "legend" }, ...series.map((s, i) =>
      html("span", { class: `ink-${i + 1}` }, html("i"), `${s.label} `, this.readouts[i])));
    this.cursor = html("div", { class: "cursor" });
    this.area = html("div", { class: "area" }, this.cursor);
    this.stack();
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
    this.stack();
    this.draw();
  }

  // Where the bands of a stack end: what is positive upwards from 0, what is negative downwards.
  stack() {
    if (!this.options.stacked) return;
    const above = this.times.map(() => 0), below = this.times.map(() => 0);
    for (const s of this.series) {
      const base = s.values[s.values.length - 1] < 0 ? below : above;
      s.from = base.slice();
      s.to = s.values.map((v, k) => (base[k] += v));
    }
  }

  // The range of finite values (positive ones on a log axis), with the bound in view.
  range() {
    let low = Infinity, high = -Infinity;
    const include = (value) => {
      if (!Number.isFinite(value) || (this.options.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const s of this.series) (s.to || s.values).forEach(include);
    if (this.options.stacked) include(0);
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

  // Values of the axis with their labels, and the unit of all of them.
  valueMarks(low, high) {
    if (this.options.log) {
      const decades = Math.round(Math.log10(high / low)), every = Math.max(1, Math.ceil(decades / 4)), exponent = Math.round(Math.log10(low));
      const marks = [];
      for (let d = 0; d <= decades; d += every) marks.push({ value: low * 10 ** d, label: `10${superscript(exponent + d)}` });
      return { marks, unit: "" };
    }
    const values = ticks(low, high, 4, this.options.bars), { factor, unit } = axisUnit(this.kind, Math.max(Math.abs(low), Math.abs(high)));
    const labels = tickLabels(values, factor);
    return { marks: values.map((value, i) => ({ value, label: labels[i] })), unit };
  }

  draw() {
    const width = this.area.clientWidth, height = this.area.clientHeight, m = this.margin;
    if (!width || !height) return;
    const [low, high] = this.range(), log = this.options.log;
    const scaled = log ? (v) => Math.log10(v / low) / Math.log10(high / low) : (v) => (v - low) / (high - low);
    const x = (t) => m.left + ((t - this.times[0]) / this.span()) * (width - m.left - m.right);
    const y = (v) => height - m.bottom - scaled(v) * (height - m.top - m.bottom);
    const picture = svg("svg", { role: "img", "aria-label": this.element.querySelector("h3").textContent });

    const { marks, unit } = this.valueMarks(low, high);
    for (const { value, label } of marks) {
      picture.append(svg("line", { class: "gridline", x1: m.left, x2: width - m.right, y1: y(value), y2: y(value) }));
      picture.append(svg("text", { class: "tick y", x: m.left - 7, y: y(value) + 4, "text-anchor": "end" }, label));
    }
    if (unit) picture.append(svg("text", { class: "unit", x: m.left - 7, y: 9, "text-anchor": "end" }, unit));
    picture.append(svg("line", { class: "axis", x1: m.left, x2: width - m.right, y1: height - m.bottom, y2: height - m.bottom }));
    this.drawTimes(picture, x, width, height);

    this.series.forEach((s, i) => {
      let path = "", started = false;
      const drawn = s.to || s.values;
      for (let k = 0; k < drawn.length; ++k) {
        const v = drawn[k];
        if (!Number.isFinite(v) || (log && v < low)) { started = false; continue; }
        const px = x(this.times[k]).toFixed(1), py = y(v).toFixed(1);
        path += !started ? `M${px} ${py}` : this.options.bars ? `H${px}V${py}` : `L${px} ${py}`;
        started = true;
      }
      if (started && s.values.length === 1) path += "h0";
      if (this.options.bars && path)
        picture.append(svg("path", { class: `filled ink-${i + 1}`, d: `${path}V${y(low)}H${x(this.times[0])}Z` }));
      if (s.from && path) {
        const back = Array.from(s.from, (v, k) => `L${x(this.times[k]).toFixed(1)} ${y(v).toFixed(1)}`).reverse().join("");
        picture.append(svg("path", { class: `filled ink-${i + 1}`, d: `${path}${back}Z` }));
      }
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

  // The last label carries the unit.
  drawTimes(picture, x, width, height) {
    const begin = this.times[0], end = begin + this.span(), { factor, unit } = axisUnit("s", Math.max(Math.abs(begin), end) < 0.1 ? end : 1);
    const values = ticks(begin, end, Math.max(2, Math.floor(width / 80))), labels = tickLabels(values, factor);
    values.forEach((t, i) => {
      const label = i === values.length - 1 ? `${labels[i]} ${unit}` : labels[i];
      picture.append(svg("text", { class: "tick x", x: Math.min(x(t), width - 4 - 3.2 * label.length), y: height - 4, "text-anchor": "middle" }, label));
    });
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
  const { times, plots: definitions, groups } = run.plots, tolerance = run.summary.tolerance;
  const bound = tolerance > 0 ? { value: tolerance, label: `tolerance ${formatNumber(tolerance)}` } : undefined;
  const plots = definitions.map(({ title, unit, whole, log, stacked, curves }) =>
    new Plot(title, times, curves.map(({ name, label }) => ({ label, values: groups[0][name] })), unit, (x) => formatBy(unit, x, whole),
      { log, stacked, bars: whole, fromZero: unit !== "J" && !log, bound: log ? bound : undefined }, onSeek));
  return {
    elements: plots.map((plot) => plot.element),
    setTime: (time) => plots.forEach((plot) => plot.setTime(time)),
    setGroup: (index) => plots.forEach((plot, i) => plot.setSeries(definitions[i].curves.map(({ name }) => groups[index][name]))),
  };
}
