// The run as typed arrays.

function decodeBase64(text, ArrayType) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new ArrayType(bytes.buffer);
}

// Warp and weft coordinates of face corners, in metres.
function decodeUvs({ min, size, corners }) {
  const stored = decodeBase64(corners, Uint16Array), uvs = new Float32Array(stored.length);
  for (let i = 0; i < stored.length; ++i) uvs[i] = min[i % 2] + (size[i % 2] * stored[i]) / 65535;
  return uvs;
}

function decodeRun(json) {
  const p = json.playback;
  // Far from the origin single precision would shake: the page counts from the middle of the run there.
  const middle = p.box_min.map((low, k) => low + p.box_size[k] / 2);
  const isFar = Math.hypot(...middle) > 100 * Math.hypot(...p.box_size), origin = isFar ? middle : [0, 0, 0];
  const playback = {
    frames: decodeBase64(p.frames, Uint32Array),
    times: decodeBase64(p.times, Float32Array),
    boxMin: p.box_min.map((low, k) => low - origin[k]),
    boxSize: p.box_size,
    positions: decodeBase64(p.positions, Uint16Array),
  };
  // Of each colouring: one byte per face, or per node, of every frame, and the error that byte 127 stands for.
  const errors = {
    element: { bytes: decodeBase64(p.element_strains, Uint8Array), scale: p.element_scale, ofNodes: false },
    edge: { bytes: decodeBase64(p.edge_strains, Uint8Array), scale: p.strain_scale, ofNodes: true },
    area: { bytes: decodeBase64(p.area_errors, Uint8Array), scale: p.area_scale, ofNodes: false },
    ...decodeStresses(p.stresses),
    ...decodeContacts(p.contacts),
  };
  let nodeCount = 0, faceCount = 0;
  const garments = json.garments.map((g) => {
    const faceSizes = decodeBase64(g.face_sizes, Uint8Array), faceBegin = faceCount;
    faceCount += faceSizes.length;
    nodeCount += g.node_count;
    return {
      name: g.name,
      status: g.status,
      nodeBegin: g.node_begin,
      nodeCount: g.node_count,
      faceBegin,
      faceSizes,
      faceNodes: decodeBase64(g.face_nodes, Uint32Array),
      uvs: decodeUvs(g.uvs),
      uvSize: Math.max(...g.uvs.size),
      pinnedNodes: decodeBase64(g.pinned_nodes, Uint32Array),
      clock: g.clock,
      isDriven: g.driven,
    };
  });
  const obstacles = json.obstacles.map((o) => {
    const vertices = decodeBase64(o.vertices, Float32Array);
    const poses = decodeBase64(o.poses, Float32Array).map((x, i) => (i % 7 < 3 ? x - origin[i % 7] : x));
    return {
      name: o.name,
      shape: o.shape,
      vertices,
      triangles: decodeBase64(o.triangles, vertices.length / 3 > 65536 ? Uint32Array : Uint16Array),
      moving: o.moving,
      poses,
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
    garmentsMeet: json.garments_meet,
    clockCount: json.clock_count,
    obstacles,
    nodeCount,
    faceCount,
    playback,
    errors,
    summaryTables: json.summary_tables,
    plots: { plots: json.plots.plots, times: decodeBase64(json.plots.times, Float32Array), framesPerSample: json.plots.frames_per_sample, groups },
  };
}

// The error that a stored byte stands for, in units of the scale: sign(b) (b / 127)^2 of the byte as a signed number.
function decodeSigned(byte) {
  const b = byte > 127 ? byte - 256 : byte;
  return (Math.sign(b) * b * b) / (127 * 127);
}

// Pressure of contacts between cloths at nodes, most of which have none.
function decodeContacts(stored) {
  if (!stored) return {};
  return { contact: { bytes: decodeBase64(stored.bytes, Uint8Array), scale: stored.scale, ofNodes: true, unit: "N/m²", isPositive: true, isSparse: true } };
}

// Membrane stress in N/m as more colourings, von Mises' of plane stress from the three components.
function decodeStresses(stored) {
  if (!stored) return {};
  const stresses = {};
  for (const name of ["warp", "weft", "shear"])
    stresses[name] = { bytes: decodeBase64(stored[name].bytes, Uint8Array), scale: stored[name].scale, ofNodes: false, unit: "N/m" };
  const { warp, weft, shear } = stresses, values = new Float32Array(warp.bytes.length);
  const [ofWarp, ofWeft, ofShear] = [warp, weft, shear].map(({ scale }) => Float32Array.from({ length: 256 }, (_, byte) => decodeSigned(byte) * scale));
  let scale = 1e-6;
  for (let i = 0; i < values.length; ++i) {
    const u = ofWarp[warp.bytes[i]], v = ofWeft[weft.bytes[i]], w = ofShear[shear.bytes[i]];
    values[i] = Math.sqrt(u * u - u * v + v * v + 3 * w * w);
    scale = Math.max(scale, values[i]);
  }
  const bytes = Uint8Array.from(values, (value) => Math.round(127 * Math.sqrt(value / scale)));
  return { von_mises: { bytes, scale, ofNodes: false, unit: "N/m", isPositive: true }, ...stresses };
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

// Elements of the page.
const $ = (id) => document.getElementById(id);
const html = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const svg = (name, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
