// Cloth as triangles with colours.

const diverging = [[0, "#173f7d"], [0.22, "#4b8ac9"], [0.42, "#bcd3e6"], [0.5, "#efebe2"], [0.58, "#f6e3a3"], [0.78, "#f2bd2f"], [1, "#b87700"]];
const sequential = [[0, "#efebe2"], [0.25, "#f6d98a"], [0.5, "#ee9d3a"], [0.75, "#bf4b32"], [1, "#5e1234"]];
const paletteOf = (errors) => (errors.isPositive ? sequential : diverging);
const fabricInks = ["#c9705a", "#5f83b8", "#79a389", "#d4a650", "#9a7fb0", "#5d9ea3", "#c98796", "#a8977c"];
// Of driven garments, bodies, whatever the colouring; its place after the fabrics' inks.
const bodyInk = "#8f8a84", bodyInkNumber = fabricInks.length;

// Colour at t in [0, 1] of a palette, as an sRGB THREE.Color.
function colorAt(inks, t) {
  const k = Math.max(1, inks.findIndex(([at]) => at >= t));
  const [a, colorA] = inks[k - 1], [b, colorB] = inks[k];
  return new THREE.Color(colorA).lerp(new THREE.Color(colorB), (t - a) / (b - a));
}

// Linear colours of the 256 bytes of stored errors, three numbers each; `scale` takes the ends of the palette.
function errorPalette(errors, scale) {
  const palette = new Float32Array(3 * 256);
  for (let byte = 0; byte < 256; ++byte) {
    const t = Math.min(1, Math.max(-1, (decodeSigned(byte) * errors.scale) / scale));
    colorAt(paletteOf(errors), errors.isPositive ? Math.max(0, t) : 0.5 + 0.5 * t).convertSRGBToLinear().toArray(palette, 3 * byte);
  }
  return palette;
}

// The side of a check in metres: about twelve along the larger side of the first garment's pattern.
const checkChoices = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const checkSize = (run) => checkChoices.find((size) => size >= run.garments[0].uvSize / 14) || 10;

// Two by two checks; what it multiplies the fabric's colour with.
function checkTexture(anisotropy) {
  const canvas = document.createElement("canvas"), side = 128;
  canvas.width = canvas.height = 2 * side;
  const context = canvas.getContext("2d");
  for (const [x, y, level] of [[0, 0, 255], [side, side, 255], [side, 0, 150], [0, side, 150]]) {
    context.fillStyle = `rgb(${level}, ${level}, ${level})`;
    context.fillRect(x, y, side, side);
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = anisotropy;
  return texture;
}

// Vertex colours, the reverse side deeper by `reverse`.
function clothMaterial() {
  const material = new THREE.MeshStandardMaterial({
    vertexColors: THREE.VertexColors, side: THREE.DoubleSide, roughness: 0.86, metalness: 0,
    polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
  });
  material.shadowSide = THREE.DoubleSide;
  material.reverse = { value: 0 };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.reverse = material.reverse;
    shader.fragmentShader = `uniform float reverse;\n${shader.fragmentShader}`.replace("#include <color_fragment>",
      "#include <color_fragment>\nif (!gl_FrontFacing) diffuseColor.rgb = mix(diffuseColor.rgb, diffuseColor.rgb * diffuseColor.rgb, reverse);");
  };
  return material;
}

// The garments of one cell, which follow each other. Corners are vertices of their own, so that an element has one
// colour; a quad has its centre as a fifth vertex.
class Cloth {
  constructor(run, garmentIndices, materials) {
    this.run = run;
    const garments = garmentIndices.map((g) => run.garments[g]), last = garments[garments.length - 1];
    this.nodeBegin = garments[0].nodeBegin;
    this.nodeCount = last.nodeBegin + last.nodeCount - this.nodeBegin;
    this.faceBegin = garments[0].faceBegin;
    this.nodes = new Float32Array(3 * this.nodeCount);
    this.nodeNormals = new Float32Array(3 * this.nodeCount);
    const corners = [], uvs = [], index = [], faceOfVertex = [], inkOfFace = [], edges = new Map(), pins = [];
    const check = checkSize(run);
    this.faces = [];
    garments.forEach((garment, i) => {
      let at = 0;
      const shift = garment.nodeBegin - this.nodeBegin;
      for (const size of garment.faceSizes) {
        const face = Array.from(garment.faceNodes.subarray(at, at + size), (node) => node + shift);
        const faceUvs = Array.from(garment.uvs.subarray(2 * at, 2 * (at + size)), (x) => x / (2 * check));
        const first = corners.length, f = this.faces.length;
        at += size;
        this.faces.push(face);
        inkOfFace.push(garment.isDriven ? bodyInkNumber : garmentIndices[i] % fabricInks.length);
        face.forEach((node, c) => { corners.push(node); uvs.push(faceUvs[2 * c], faceUvs[2 * c + 1]); faceOfVertex.push(f); });
        if (size === 3) index.push(first, first + 1, first + 2);
        else {
          corners.push(-1);
          uvs.push((faceUvs[0] + faceUvs[2] + faceUvs[4] + faceUvs[6]) / 4, (faceUvs[1] + faceUvs[3] + faceUvs[5] + faceUvs[7]) / 4);
          faceOfVertex.push(f);
          for (let c = 0; c < 4; ++c) index.push(first + c, first + ((c + 1) % 4), first + 4);
        }
        if (!garment.isDriven) face.forEach((a, c) => {
          const b = face[(c + 1) % size];
          edges.set(Math.min(a, b) * this.nodeCount + Math.max(a, b), [a, b]);
        });
      }
      for (const node of garment.pinnedNodes) pins.push(node + shift);
    });
    this.nodeOfVertex = Int32Array.from(corners);
    this.faceOfVertex = Uint32Array.from(faceOfVertex);
    this.inkOfFace = Uint8Array.from(inkOfFace);
    this.pins = pins;
    const attribute = () => new THREE.BufferAttribute(new Float32Array(3 * corners.length), 3).setUsage(THREE.DynamicDrawUsage);
    this.geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) this.geometry.setAttribute(name, attribute());
    this.geometry.setAttribute("uv", new THREE.Float32BufferAttribute(uvs, 2));
    this.geometry.setIndex(index);
    this.geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    this.mesh = new THREE.Mesh(this.geometry, materials.cloth);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;

    this.lineGeometry = new THREE.BufferGeometry();
    this.lineGeometry.setAttribute("position", new THREE.BufferAttribute(this.nodes, 3).setUsage(THREE.DynamicDrawUsage));
    this.lineGeometry.setIndex([...edges.values()].flat());
    this.lines = new THREE.LineSegments(this.lineGeometry, materials.line);
    this.lines.frustumCulled = false;

    this.pinGeometry = new THREE.BufferGeometry();
    this.pinGeometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * pins.length), 3));
    this.points = new THREE.Points(this.pinGeometry, materials.pin);
    this.points.frustumCulled = false;
    this.points.visible = pins.length > 0;
    this.edgeCount = edges.size;
  }

  dispose() {
    for (const geometry of [this.geometry, this.lineGeometry, this.pinGeometry]) geometry.dispose();
  }

  // Positions between frames k and k + 1 of the playback.
  show(k, blend) {
    const { positions, boxMin, boxSize, times } = this.run.playback;
    const length = 3 * this.run.nodeCount, a = k * length + 3 * this.nodeBegin;
    const b = blend > 0 && k + 1 < times.length ? a + length : a;
    for (let i = 0; i < this.nodes.length; ++i) {
      const q = positions[a + i] + blend * (positions[b + i] - positions[a + i]);
      this.nodes[i] = boxMin[i % 3] + (boxSize[i % 3] * q) / 65535;
    }
    this.fillGeometry();
    const pinned = this.pinGeometry.attributes.position;
    this.pins.forEach((node, i) => pinned.setXYZ(i, this.nodes[3 * node], this.nodes[3 * node + 1], this.nodes[3 * node + 2]));
    pinned.needsUpdate = true;
    this.lineGeometry.attributes.position.needsUpdate = true;
  }

  fillGeometry() {
    const p = this.nodes, n = this.nodeNormals.fill(0);
    const position = this.geometry.attributes.position.array, normal = this.geometry.attributes.normal.array;
    let v = 0;
    for (const face of this.faces) {
      const quad = face.length === 4;
      const a = 3 * face[0], b = 3 * face[1], c = 3 * face[2], d = quad ? 3 * face[3] : a;
      // Twice the area vector: of a triangle from two edges, of a quad from its diagonals.
      const ux = p[c] - p[a], uy = p[c + 1] - p[a + 1], uz = p[c + 2] - p[a + 2];
      const wx = p[d] - p[b], wy = p[d + 1] - p[b + 1], wz = p[d + 2] - p[b + 2];
      const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
      for (const node of face) { n[3 * node] += x; n[3 * node + 1] += y; n[3 * node + 2] += z; }
      v += face.length;
      if (quad) {
        const size = Math.hypot(x, y, z) || 1;
        for (let k = 0; k < 3; ++k) position[3 * v + k] = (p[a + k] + p[b + k] + p[c + k] + p[d + k]) / 4;
        normal[3 * v] = x / size; normal[3 * v + 1] = y / size; normal[3 * v + 2] = z / size;
        ++v;
      }
    }
    for (let i = 0; i < n.length; i += 3) {
      const size = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
      n[i] /= size; n[i + 1] /= size; n[i + 2] /= size;
    }
    for (let i = 0; i < this.nodeOfVertex.length; ++i) {
      const node = 3 * this.nodeOfVertex[i];
      if (node < 0) continue;
      for (let k = 0; k < 3; ++k) { position[3 * i + k] = p[node + k]; normal[3 * i + k] = n[node + k]; }
    }
    this.geometry.attributes.position.needsUpdate = this.geometry.attributes.normal.needsUpdate = true;
  }

  // Stored byte of a face or node of the cell in a frame.
  errorByte(errors, frame, face, node) {
    return errors.ofNodes ? errors.bytes[frame * this.run.nodeCount + this.nodeBegin + node]
      : errors.bytes[frame * this.run.faceCount + this.faceBegin + face];
  }

  // palette: of the errors, or none for the colours of the fabrics.
  fillColors(errors, palette, frame) {
    const color = this.geometry.attributes.color, c = color.array;
    const inks = [...fabricInks, bodyInk].map((ink) => new THREE.Color(ink).convertSRGBToLinear().toArray());
    let first = 0;
    for (let v = 0; v < this.nodeOfVertex.length; ++v) {
      const node = this.nodeOfVertex[v], face = this.faceOfVertex[v];
      if (node >= 0 && (v === 0 || face !== this.faceOfVertex[v - 1])) first = v;
      if (!errors || this.inkOfFace[face] === bodyInkNumber) {
        const ink = inks[this.inkOfFace[face]];
        for (let k = 0; k < 3; ++k) c[3 * v + k] = ink[k];
      } else if (!errors.ofNodes || node >= 0) {
        const byte = this.errorByte(errors, frame, face, node);
        for (let k = 0; k < 3; ++k) c[3 * v + k] = palette[3 * byte + k];
      } else {
        for (let k = 0; k < 3; ++k)
          c[3 * v + k] = (c[3 * first + k] + c[3 * first + 3 + k] + c[3 * first + 6 + k] + c[3 * first + 9 + k]) / 4;
      }
    }
    color.needsUpdate = true;
  }

  // The error where a ray meets the cloth, or none.
  errorAt(raycaster, errors, frame) {
    const [hit] = raycaster.intersectObject(this.mesh);
    if (!hit) return undefined;
    const nodes = ["a", "b", "c"].map((k) => hit.face[k]).filter((v) => this.nodeOfVertex[v] >= 0);
    const nearest = nodes.sort((v, w) => this.distance(v, hit.point) - this.distance(w, hit.point))[0];
    return decodeSigned(this.errorByte(errors, frame, this.faceOfVertex[hit.face.a], this.nodeOfVertex[nearest])) * errors.scale;
  }

  distance(vertex, point) {
    const p = this.geometry.attributes.position.array;
    return Math.hypot(p[3 * vertex] - point.x, p[3 * vertex + 1] - point.y, p[3 * vertex + 2] - point.z);
  }
}
