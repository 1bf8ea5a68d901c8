// The flat pattern beside the cloth, in the same colours: faces in warp, to the right, and weft, upwards.

const patternSize = { width: 260, height: 230 };

// Faces that share corners in the plane, with their box.
function panelsOf(cloth, firstFace, faceSizes, uvs) {
  const panelAt = new Map(), panels = new Set();
  let at = 0;
  faceSizes.forEach((size, f) => {
    const face = { cloth, face: firstFace + f, nodes: cloth.faces[firstFace + f], corners: [] };
    let panel = { faces: [face], keys: [] };
    panels.add(panel);
    for (let c = 0; c < size; ++c) {
      const [u, v] = [uvs[2 * (at + c)], uvs[2 * (at + c) + 1]], key = `${face.nodes[c]} ${u.toPrecision(6)} ${v.toPrecision(6)}`;
      face.corners.push([u, v]);
      let other = panelAt.get(key);
      if (other && other !== panel) {  // the smaller one joins
        if (other.faces.length < panel.faces.length) [panel, other] = [other, panel];
        other.faces.push(...panel.faces);
        for (const k of panel.keys) panelAt.set(k, other);
        other.keys.push(...panel.keys);
        panels.delete(panel);
        panel = other;
      } else if (!other) {
        panelAt.set(key, panel);
        panel.keys.push(key);
      }
    }
    at += size;
  });
  return [...panels].map(({ faces }) => {
    const corners = faces.flatMap((face) => face.corners);
    const ofAxis = (k) => corners.reduce(([least, most], x) => [Math.min(least, x[k]), Math.max(most, x[k])], [Infinity, -Infinity]);
    const [left, right] = ofAxis(0), [low, high] = ofAxis(1);
    return { faces, left, low, width: right - left, height: high - low };
  });
}

// Where panels lie in rows of at most that length, the tallest first.
function inRows(panels, longest) {
  const gap = 0.05 * Math.max(...panels.map(({ height }) => height));
  let right = 0, bottom = 0, tall = 0, wide = 0;
  const places = panels.map(({ width, height }) => {
    if (right > 0 && right + width > longest) [right, bottom, tall] = [0, bottom + tall + gap, 0];
    const place = [right, bottom];
    [wide, tall, right] = [Math.max(wide, right + width), Math.max(tall, height), right + width + gap];
    return place;
  });
  tall += bottom;
  return { places, wide, tall, scale: Math.min(patternSize.width / wide, patternSize.height / tall) };
}

class Pattern {
  constructor(box, viewer) {
    Object.assign(this, { box, viewer, canvas: box.querySelector("canvas") });
    viewer.onColors = () => this.draw();
  }

  // Panels of the garments that are shown, each as its coordinates have it: side by side, in the rows that show them largest.
  layOut() {
    this.cells = this.viewer.cells;
    const panels = [];
    for (const { cloth, garments } of this.cells) {
      let face = 0;
      for (const { faceSizes, uvs, isDriven } of garments.map((g) => this.viewer.run.garments[g])) {
        if (!isDriven) panels.push(...panelsOf(cloth, face, faceSizes, uvs));
        face += faceSizes.length;
      }
    }
    panels.sort((a, b) => b.height - a.height || b.width - a.width);
    const widest = Math.max(0, ...panels.map(({ width }) => width));
    let best = { scale: 0, wide: 1, tall: 1, places: [] };
    for (let count = 1; count <= Math.min(panels.length, 12); ++count) {
      const rows = inRows(panels, count * 1.04 * widest);
      if (rows.scale > best.scale) best = rows;
    }
    const right = best.wide, tall = best.tall;
    this.faces = panels.flatMap(({ faces, left, low }, i) => faces.map((face) => (
      { ...face, corners: face.corners.map(([u, v]) => [u - left + best.places[i][0], v - low + best.places[i][1]]) })));
    const ratio = this.viewer.pixelRatio(), fit = Math.min(patternSize.width / (right || 1), patternSize.height / (tall || 1));
    Object.assign(this.canvas.style, { width: `${Math.ceil(fit * right)}px`, height: `${Math.ceil(fit * tall)}px` });
    Object.assign(this.canvas, { width: Math.max(1, Math.ceil(fit * right * ratio)), height: Math.max(1, Math.ceil(fit * tall * ratio)) });
    this.toPixels = ([x, y]) => [x * fit * ratio, this.canvas.height - y * fit * ratio];
  }

  draw() {
    const { viewer, canvas } = this, { errors, palette } = viewer;
    if (this.box.hidden || !errors || !viewer.cells.length) return;
    if (this.cells !== viewer.cells) this.layOut();
    const context = canvas.getContext("2d"), frame = Math.round(viewer.frame);
    const inks = Array.from({ length: 256 }, (_, byte) => `#${new THREE.Color().fromArray(palette, 3 * byte).convertLinearToSRGB().getHexString()}`);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.lineWidth = 0.7;  // in the face's colour: no seams between faces
    for (const { cloth, face, nodes, corners } of this.faces) {
      const bytes = errors.ofNodes ? nodes.map((node) => cloth.errorByte(errors, frame, face, node)) : [cloth.errorByte(errors, frame, face)];
      const size = (byte) => Math.abs(decodeSigned(byte));
      context.fillStyle = context.strokeStyle = inks[bytes.reduce((a, b) => (size(a) >= size(b) ? a : b))];
      context.beginPath();
      for (const corner of corners) context.lineTo(...this.toPixels(corner));
      context.closePath();
      context.fill();
      context.stroke();
    }
  }
}
