// The flat pattern beside the cloth, in the same colours: faces in warp, to the right, and weft, upwards.

const patternSize = { width: 220, height: 190 };

class Pattern {
  constructor(box, viewer) {
    Object.assign(this, { box, viewer, canvas: box.querySelector("canvas") });
    viewer.onColors = () => this.draw();
  }

  // Of the garments that are shown one after another, each where its coordinates have it: faces as corners in metres.
  layOut() {
    this.cells = this.viewer.cells;
    const gap = 0.06;
    let right = 0, tall = 0;
    this.faces = [];
    for (const { cloth, garments } of this.cells) {
      let face = 0;
      for (const { faceSizes, uvs, uvSize, isDriven } of garments.map((g) => this.viewer.run.garments[g])) {
        if (isDriven) {
          face += faceSizes.length;
          continue;
        }
        const ofAxis = (k) => uvs.filter((_, i) => i % 2 === k).reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
        const [left, end] = ofAxis(0), [low, high] = ofAxis(1), shift = (right && right + gap * uvSize) - left;
        let at = 0;
        for (const size of faceSizes) {
          const corners = Array.from({ length: size }, (_, c) => [uvs[2 * (at + c)] + shift, uvs[2 * (at + c) + 1] - low]);
          this.faces.push({ cloth, face, nodes: cloth.faces[face], corners });
          at += size;
          ++face;
        }
        right = end + shift;
        tall = Math.max(tall, high - low);
      }
    }
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
