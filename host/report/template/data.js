// The run as typed arrays, and numbers as text.

function decodeBase64(text, ArrayType) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new ArrayType(bytes.buffer);
}

function decodeRun(json) {
  const p = json.playback;
  const playback = {
    frames: decodeBase64(p.frames, Uint32Array),
    times: decodeBase64(p.times, Float32Array),
    boxMin: p.box_min,
    boxSize: p.box_size,
    positions: decodeBase64(p.positions, Uint16Array),
    areaErrors: decodeBase64(p.area_errors, Uint8Array),
    areaScale: p.area_scale,
    edgeStrains: decodeBase64(p.edge_strains, Uint8Array),
    strainScale: p.strain_scale,
  };
  const garments = json.garments.map((g) => ({
    name: g.name,
    nodeBegin: g.node_begin,
    nodeCount: g.node_count,
    faceSizes: decodeBase64(g.face_sizes, Uint8Array),
    faceNodes: decodeBase64(g.face_nodes, Uint32Array),
    pinnedNodes: decodeBase64(g.pinned_nodes, Uint32Array),
    clock: g.clock,
  }));
  const obstacles = json.obstacles.map((o) => {
    const vertices = decodeBase64(o.vertices, Float32Array);
    return {
      name: o.name,
      shape: o.shape,
      vertices,
      triangles: decodeBase64(o.triangles, vertices.length / 3 > 65536 ? Uint32Array : Uint16Array),
      moving: o.moving,
      poses: decodeBase64(o.poses, Float32Array),
    };
  });
  const groups = json.plots.groups.map((group) => {
    const columns = {};
    for (const [name, text] of Object.entries(group))
      columns[name] = decodeBase64(text, name === "status" ? Uint8Array : Float32Array);
    return columns;
  });
  return {
    summary: json.summary,
    frameCount: json.frame_count,
    garmentNames: json.garment_names,
    garments,
    clockCount: json.clock_count,
    obstacles,
    nodeCount: garments.reduce((sum, g) => sum + g.nodeCount, 0),
    faceCount: garments.reduce((sum, g) => sum + g.faceSizes.length, 0),
    playback,
    plots: { times: decodeBase64(json.plots.times, Float32Array), framesPerSample: json.plots.frames_per_sample, groups },
  };
}

// The error that a stored byte stands for, in units of the scale: sign(b) (b / 127)^2 of the byte as a signed number.
function decodeSigned(byte) {
  const b = byte > 127 ? byte - 256 : byte;
  return (Math.sign(b) * b * b) / (127 * 127);
}

// Greatest index with values[index] <= x of an ascending array, 0 if there is none.
function indexBefore(values, x) {
  let low = 0, high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

function superscript(n) {
  return String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

// Three significant digits, a power of ten where a plain number would be hard to read.
function formatNumber(x, digits = 3) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "not finite";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa));
    return (short === "1" ? "" : `${short} × `).replace("-", "−") + `10${superscript(Number(exponent))}`;
  }
  const shown = size >= 10 ** digits ? Math.round(x) : Number(x.toPrecision(digits));
  return shown.toLocaleString("en-US", { maximumFractionDigits: 10 }).replace("-", "−");
}

const formatPercent = (x, digits = 3) =>
  Number.isFinite(x) && x !== null ? `${x !== 0 && Math.abs(x) < 1e-5 ? "< 0.001" : formatNumber(100 * x, digits)} %` : "not finite";
const formatCount = (x) => Number(x).toLocaleString("en-US");
const formatSeconds = (x) =>
  Number.isFinite(x) && x !== null && x > 0 && x < 1 ? `${formatNumber(1000 * x)} ms` : `${formatNumber(x)} s`;
function formatBytes(x) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; x >= 1024 && unit < 4; ++unit) x /= 1024;
  return `${formatNumber(x)} ${units[unit]}`;
}
