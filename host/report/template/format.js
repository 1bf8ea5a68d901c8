// Numbers as text, for readers: few digits, units, never a bare "not a number".

const minus = (text) => text.replace("-", "−");

function superscript(n) {
  return String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

// Three significant digits, a power of ten where a plain number would be hard to read.
function formatNumber(x, digits = 3) {
  if (!isNumber(x)) return "not finite";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa));
    return minus((short === "1" ? "" : `${short} × `) + `10${superscript(Number(exponent))}`);
  }
  const shown = size >= 10 ** digits ? Math.round(x) : Number(x.toPrecision(digits));
  return minus(shown.toLocaleString("en-US", { maximumFractionDigits: 10 }));
}

const formatCount = (x) => (isNumber(x) ? minus(Math.round(x).toLocaleString("en-US")) : "not finite");

// A fraction in per cent, in parts per million where that would begin with many zeros.
function formatPercent(x, digits = 3) {
  if (!isNumber(x)) return "not finite";
  const size = Math.abs(x);
  if (size > 0 && size < 1e-5) return `${formatNumber(1e6 * x, digits)} ppm`;
  return `${formatNumber(100 * x, digits)} %`;
}

const prefixes = [[1e-9, "n"], [1e-6, "µ"], [1e-3, "m"], [1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];
const prefixOf = (size) => prefixes.filter(([factor]) => factor <= size * (1 + 1e-9)).pop();

// With a unit and its prefix: 0.55 mm, 9.98 kN.
function formatUnit(x, unit, digits = 3) {
  if (!isNumber(x)) return "not finite";
  if (x === 0) return `0 ${unit}`;
  const rounded = Number(x.toPrecision(digits)), prefix = prefixOf(Math.abs(rounded));
  if (!prefix || Math.abs(x) >= 1e12) return `${formatNumber(x, digits)} ${unit}`;
  return `${formatNumber(Number((rounded / prefix[0]).toPrecision(digits)), digits)} ${prefix[1]}${unit}`;
}
const formatLength = (x) => formatUnit(x, "m");
const formatForce = (x) => formatUnit(x, "N");
const formatEnergy = (x) => formatUnit(x, "J");
const formatSeconds = (x) => (isNumber(x) && Math.abs(x) >= 1 ? `${formatNumber(x)} s` : formatUnit(x, "s"));

function formatBytes(x) {
  if (!isNumber(x)) return "not finite";
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; x >= 1024 && unit < 4; ++unit) x /= 1024;
  return `${formatNumber(x)} ${units[unit]}`;
}

// By its unit, "1" of a ratio; without one by whether it counts something.
function formatBy(unit, x, isWhole = Number.isInteger(x) && Math.abs(x) < 1e15) {
  if (unit === "1") return formatPercent(x);
  if (unit === "s") return formatSeconds(x);
  if (unit === "byte") return formatBytes(x);
  if (unit) return formatUnit(x, unit);
  return isWhole ? formatCount(x) : formatNumber(x);
}

// The number and the unit of a formatted text.
function splitUnit(text) {
  const at = text.lastIndexOf(" ");
  return at < 0 || /^10/.test(text.slice(at + 1)) || text === "not finite" ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

// Round numbers 1, 2 or 5 times a power of ten that divide [low, high] into about `count` parts.
function ticks(low, high, count, isWhole = false) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  let step = power * [1, 2, 5, 10].find((k) => k * power >= 0.75 * rough);
  if (isWhole) step = Math.max(1, Math.round(step));
  const result = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); ++i) result.push(i * step);
  return result;
}

// What one axis shows its values in: { factor, unit }, the same for all its labels.
function axisUnit(kind, largest) {
  const power = () => {
    const exponent = Math.floor(Math.log10(largest) + 1e-9);
    return { factor: 10 ** -exponent, unit: `× 10${superscript(exponent)}` };
  };
  if (!(largest > 0)) return { factor: kind === "1" ? 100 : 1, unit: kind === "1" ? "%" : kind };
  if (kind === "1" && largest >= 1e-9) return largest >= 1e-5 ? { factor: 100, unit: "%" } : { factor: 1e6, unit: "ppm" };
  if (kind === "1") return power();
  if (kind === "") return largest >= 1e6 || largest < 1e-3 ? power() : { factor: 1, unit: "" };
  const prefix = prefixOf(largest);
  if (!prefix || largest >= 1e12) return { factor: power().factor, unit: `${power().unit} ${kind}` };
  return { factor: 1 / prefix[0], unit: `${prefix[1]}${kind}` };
}

// Labels of evenly spaced ticks with as many decimals as tell them apart.
function tickLabels(values, factor) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) * factor : Math.abs(values[0] || 1) * factor;
  const decimals = Math.min(15, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return values.map((v) => {
    const shown = v * factor;
    const text = shown.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    return minus(Number(shown.toFixed(decimals)) === 0 ? text.replace("-", "") : text);
  });
}
