// The cloth in 3D.

const diverging = [[0, "#173f7d"], [0.22, "#4b8ac9"], [0.42, "#bcd3e6"], [0.5, "#efebe2"], [0.58, "#f6e3a3"], [0.78, "#f2bd2f"], [1, "#b87700"]];
const garmentInks = ["#6c8ebf", "#d9a066", "#77ab8f", "#c5808e", "#9a8fc4", "#b9b07a", "#6fa9b5", "#c99a82"];

// Colour in [0, 1] of the diverging scale, as an sRGB THREE.Color.
function divergingColor(t) {
  const k = Math.max(1, diverging.findIndex(([at]) => at >= t));
  const [a, colorA] = diverging[k - 1], [b, colorB] = diverging[k];
  return new THREE.Color(colorA).lerp(new THREE.Color(colorB), (t - a) / (b - a));
}

// A colour of the style sheet under the theme of the moment.
function themeColor(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const rgb = getComputedStyle(probe).color;
  probe.remove();
  return new THREE.Color(rgb);
}

// Lowest and highest corner of one garment in a range of frames.
function garmentBox(run, garment, firstFrame, lastFrame) {
  const { positions, boxMin, boxSize } = run.playback, box = new THREE.Box3(), p = new THREE.Vector3();
  for (let frame = firstFrame; frame <= lastFrame; ++frame) {
    const begin = 3 * (frame * run.nodeCount + garment.nodeBegin);
    for (let i = begin; i < begin + 3 * garment.nodeCount; i += 3)
      box.expandByPoint(p.set(...[0, 1, 2].map((k) => boxMin[k] + (boxSize[k] * positions[i + k]) / 65535)));
  }
  return box;
}

// Whether most garments begin where the one before them begins, as replicas do.
function garmentsCoincide(run) {
  const boxes = run.garments.map((garment) => garmentBox(run, garment, 0, 0));
  const close = boxes.filter((box, g) => g > 0 && box.getCenter(new THREE.Vector3()).distanceTo(boxes[g - 1].getCenter(new THREE.Vector3()))
    < 0.3 * box.getSize(new THREE.Vector3()).length());
  return 2 * close.length >= boxes.length && boxes.length > 1;
}

// Lines in a plane z = constant that fade out with the distance from a point.
function fadingGrid(x, y, z, radius) {
  const power = 10 ** Math.floor(Math.log10(radius / 2));
  const spacing = [5, 2, 1].map((k) => k * power).find((s) => s <= radius / 2);
  const count = Math.ceil((7 * radius) / spacing), positions = [], fades = [];
  const x0 = Math.round(x / spacing) * spacing, y0 = Math.round(y / spacing) * spacing;
  const vertex = (atX, atY) => {
    positions.push(atX, atY, z);
    fades.push(Math.max(0, 1 - Math.hypot(atX - x, atY - y) / (3.4 * radius)) ** 1.5);
  };
  for (let i = -count; i <= count; ++i)
    for (let k = -count; k < count; ++k)
      for (const [a, b] of [[k, i], [k + 1, i], [i, k], [i, k + 1]]) vertex(x0 + a * spacing, y0 + b * spacing);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("fade", new THREE.Float32BufferAttribute(fades, 1));
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, uniforms: { color: { value: new THREE.Color() } },
    vertexShader: "attribute float fade; varying float f; void main() { f = fade; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "uniform vec3 color; varying float f; void main() { gl_FragColor = vec4(color, f); }",
  });
  return new THREE.LineSegments(geometry, material);
}

class Viewer {
  // arrangement: "place" all garments where they are, "grid" side by side, or the number of one garment.
  constructor(stage, run, arrangement) {
    this.run = run;
    this.stage = stage;
    this.arrange(arrangement);
    this.coloring = "area";
    this.scale = 1;
    this.frame = 0;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.renderer.gammaOutput = true;
    this.renderer.gammaFactor = 2.2;
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    stage.prepend(this.renderer.domElement);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.center = this.box.getCenter(new THREE.Vector3());
    this.radius = Math.max(1e-6, this.box.getSize(new THREE.Vector3()).length() / 2);
    this.nodes = new Float32Array(3 * run.nodeCount);
    this.nodeNormals = new Float32Array(3 * run.nodeCount);
    this.buildCloth();
    this.buildLights();
    this.obstacles = new ObstacleView(this.scene, this.run, this.places, this.center, this.radius);
    if (!this.obstacles.hasGround) this.buildFloor();
    this.controls = new THREE.OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableKeys = false;
    this.controls.rotateSpeed = 0.8;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(stage);
    this.applyTheme();
    this.resize();
    this.resetView();
  }

  // Which garments are shown, how far each is moved, and the box of it all. A grid is a wall along the wider side.
  arrange(arrangement) {
    const { garments, playback, nodeCount } = this.run, last = playback.times.length - 1;
    const isOne = typeof arrangement === "number";
    this.shown = garments.map((_, g) => g).filter((g) => !isOne || g === arrangement);
    this.offsets = new Float32Array(3 * nodeCount);
    this.box = new THREE.Box3(new THREE.Vector3(...playback.boxMin),
      new THREE.Vector3(...playback.boxMin).add(new THREE.Vector3(...playback.boxSize)));
    this.isWall = arrangement === "grid";
    if (isOne) this.box = garmentBox(this.run, garments[arrangement], 0, last);
    if (!this.isWall) {
      const clock = garments[this.shown[0]].clock;
      this.box.union(obstacleBox(this.run, clock, this.box));
      this.places = [{ clock, offset: new THREE.Vector3() }];
      return;
    }
    this.places = [];
    const step = Math.max(1, Math.floor(last / 8)), boxes = garments.map((garment) => {
      const box = new THREE.Box3();
      for (let frame = 0; frame <= last; frame += step) box.union(garmentBox(this.run, garment, frame, frame));
      return box.union(obstacleBox(this.run, garment.clock, box));
    });
    const size = new THREE.Vector3();
    for (const box of boxes) size.max(box.getSize(new THREE.Vector3()));
    const along = size.x < size.y ? 1 : 0, pitch = [1.2 * size.getComponent(along), 1.15 * size.z || 1];
    const columns = Math.max(1, Math.round(Math.sqrt((1.7 * garments.length * pitch[1]) / pitch[0])));
    this.box = new THREE.Box3();
    garments.forEach((garment, g) => {
      const offset = boxes[0].getCenter(new THREE.Vector3()).sub(boxes[g].getCenter(new THREE.Vector3()));
      offset.setComponent(along, offset.getComponent(along) + pitch[0] * (g % columns));
      offset.z -= pitch[1] * Math.floor(g / columns);
      for (let i = 3 * garment.nodeBegin; i < 3 * (garment.nodeBegin + garment.nodeCount); ++i)
        this.offsets[i] = offset.getComponent(i % 3);
      const cell = boxes[g].clone().translate(offset).expandByVector(size.clone().multiplyScalar(0.05));
      this.places.push({ clock: garment.clock, offset, cell });
      this.box.union(boxes[g].translate(offset));
    });
  }

  dispose() {
    this.observer.disconnect();
    this.controls.dispose();
    cancelAnimationFrame(this.pending);
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  // Corners are vertices of their own, so that an element has one colour; a quad has its centre as a fifth vertex.
  buildCloth() {
    const corners = [], centers = [], index = [], faceOfVertex = [], edges = new Map(), pins = [];
    this.garmentOfFace = [];
    this.faces = [];
    this.numberOfFace = [];
    let faceBegin = 0;
    this.run.garments.forEach((garment, g) => {
      let at = 0, number = faceBegin;
      faceBegin += garment.faceSizes.length;
      if (!this.shown.includes(g)) return;
      for (const size of garment.faceSizes) {
        const face = Array.from(garment.faceNodes.subarray(at, at + size), (node) => node + garment.nodeBegin);
        at += size;
        const first = corners.length, f = this.faces.length;
        this.faces.push(face);
        this.numberOfFace.push(number++);
        this.garmentOfFace.push(g);
        for (const node of face) { corners.push(node); faceOfVertex.push(f); }
        if (size === 3) index.push(first, first + 1, first + 2);
        else {
          centers.push(corners.length);
          corners.push(-1);
          faceOfVertex.push(f);
          for (let c = 0; c < 4; ++c) index.push(first + c, first + ((c + 1) % 4), first + 4);
        }
        face.forEach((a, c) => {
          const b = face[(c + 1) % size];
          edges.set(Math.min(a, b) * this.run.nodeCount + Math.max(a, b), [a, b]);
        });
      }
      for (const node of garment.pinnedNodes) pins.push(node + garment.nodeBegin);
    });
    this.nodeOfVertex = Int32Array.from(corners);
    this.faceOfVertex = Uint32Array.from(faceOfVertex);
    this.pins = pins;
    const attribute = () => new THREE.BufferAttribute(new Float32Array(3 * corners.length), 3).setUsage(THREE.DynamicDrawUsage);
    this.geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) this.geometry.setAttribute(name, attribute());
    this.geometry.setIndex(index);
    this.material = new THREE.MeshStandardMaterial({
      vertexColors: THREE.VertexColors, side: THREE.DoubleSide, roughness: 0.82, metalness: 0,
      polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    });
    this.material.shadowSide = THREE.DoubleSide;
    const cloth = new THREE.Mesh(this.geometry, this.material);
    cloth.castShadow = cloth.receiveShadow = true;
    cloth.frustumCulled = false;
    this.scene.add(cloth);

    this.lineGeometry = new THREE.BufferGeometry();
    this.lineGeometry.setAttribute("position", new THREE.BufferAttribute(this.nodes, 3).setUsage(THREE.DynamicDrawUsage));
    const ends = [];
    for (const [a, b] of edges.values()) ends.push(a, b);
    this.lineGeometry.setIndex(ends);
    // Fine meshes get fainter lines: they would cover the colours.
    this.lineMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: Math.min(0.35, Math.max(0.08, 0.35 * Math.sqrt(6000 / edges.size))) });
    this.lines = new THREE.LineSegments(this.lineGeometry, this.lineMaterial);
    this.lines.frustumCulled = false;
    this.lines.visible = false;
    this.scene.add(this.lines);

    this.pinGeometry = new THREE.BufferGeometry();
    this.pinGeometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * pins.length), 3));
    this.pinMaterial = new THREE.PointsMaterial({ size: this.shown.length > 6 ? 3 : 7, sizeAttenuation: false, map: this.discTexture(), alphaTest: 0.5, transparent: true });
    const points = new THREE.Points(this.pinGeometry, this.pinMaterial);
    points.frustumCulled = false;
    points.visible = pins.length > 0;
    this.scene.add(points);
  }

  discTexture() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 32;
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.arc(16, 16, 14, 0, 7);
    context.fill();
    return new THREE.CanvasTexture(canvas);
  }

  buildLights() {
    this.hemisphere = new THREE.HemisphereLight(0xffffff, 0xcfc9bf, 0.68);
    this.hemisphere.position.set(0, 0, 1);
    this.key = new THREE.DirectionalLight(0xfff6e8, 0.62);
    this.fill = new THREE.DirectionalLight(0xe6efff, 0.16);
    const r = this.radius;
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 5;
    this.key.shadow.bias = -0.0005;
    Object.assign(this.key.shadow.camera, { left: -1.4 * r, right: 1.4 * r, top: 1.4 * r, bottom: -1.4 * r, near: 0.1 * r, far: 9 * r });
    for (const light of [this.key, this.fill]) {
      light.target.position.copy(this.center);
      this.scene.add(light, light.target);
    }
    this.scene.add(this.hemisphere);
  }

  // A floor that catches the shadow and fades out with distance, just below the lowest point of the run.
  buildFloor() {
    const z = this.box.min.z - 0.03 * this.radius, extent = 7 * this.radius;
    this.shadowMaterial = new THREE.ShadowMaterial({ opacity: 0.16 });
    const floor = new THREE.Mesh(new THREE.PlaneBufferGeometry(2 * extent, 2 * extent), this.shadowMaterial);
    floor.position.set(this.center.x, this.center.y, z);
    floor.receiveShadow = true;
    this.scene.add(floor);

    this.grid = fadingGrid(this.center.x, this.center.y, z, this.radius);
    this.scene.add(this.grid);
  }

  applyTheme() {
    if (this.grid) this.grid.material.uniforms.color.value = themeColor("--floor-line");
    this.obstacles.applyTheme();
    this.lineMaterial.color = themeColor("--cloth-edge").convertSRGBToLinear();
    this.pinMaterial.color = themeColor("--accent").convertSRGBToLinear();
    const dark = themeColor("--ground").getHSL({}).l < 0.5;
    if (this.shadowMaterial) this.shadowMaterial.opacity = dark ? 0.42 : 0.17;
    this.draw();
  }

  // Azimuth and elevation in degrees of the eye seen from the centre; distance 1 shows the whole run.
  setView(azimuth, elevation, distance = 1) {
    const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180;
    const direction = new THREE.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
    const right = new THREE.Vector3(0, 0, 1).cross(direction).normalize(), up = direction.clone().cross(right);
    const tangent = Math.tan((this.camera.fov * Math.PI) / 360);
    let far = 0;
    for (let i = 0; i < 8; ++i) {
      const corner = new THREE.Vector3(i & 1 ? this.box.max.x : this.box.min.x, i & 2 ? this.box.max.y : this.box.min.y,
        i & 4 ? this.box.max.z : this.box.min.z).sub(this.center);
      const depth = corner.dot(direction);
      far = Math.max(far, depth + Math.abs(corner.dot(right)) / (tangent * this.camera.aspect), depth + Math.abs(corner.dot(up)) / tangent);
    }
    far = Math.max(far, this.radius) * 1.1 * distance;
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(direction, far);
    this.camera.near = far / 100;
    this.camera.far = far + 40 * this.radius;
    this.camera.updateProjectionMatrix();
    const place = (light, da, height) =>
      light.position.copy(this.center).add(new THREE.Vector3(Math.cos(a + da), Math.sin(a + da), height).setLength(4 * this.radius));
    place(this.key, -0.75, 1.25);
    place(this.fill, 1.9, 0.35);
    this.controls.update();
    this.draw();
  }

  // Looks along the thinner side of the run's box, a little from the side and from above.
  resetView() {
    const size = this.box.getSize(new THREE.Vector3());
    const [aside, above] = this.isWall ? [12, 6] : [32, 16];
    this.setView(size.x < size.y ? aside : aside - 90, above);
  }

  resize() {
    const width = this.stage.clientWidth, height = this.stage.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    const before = this.camera.aspect;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (Math.abs(before - this.camera.aspect) > 0.3 && this.controls) this.resetView();
    this.draw();
  }

  // Shows a frame of the playback; between two frames positions are interpolated, colours are of the nearer.
  show(frame) {
    this.frame = frame;
    const { positions, boxMin, boxSize, times } = this.run.playback;
    const length = this.nodes.length, k = Math.min(Math.floor(frame), times.length - 1);
    const blend = k + 1 < times.length ? frame - k : 0, a = k * length, b = blend > 0 ? a + length : a;
    for (let i = 0; i < length; ++i) {
      const q = positions[a + i] + blend * (positions[b + i] - positions[a + i]);
      this.nodes[i] = boxMin[i % 3] + (boxSize[i % 3] * q) / 65535 + this.offsets[i];
    }
    this.fillGeometry();
    this.fillColors();
    this.obstacles.show(k, blend);
    const pinned = this.pinGeometry.attributes.position;
    this.pins.forEach((node, i) => pinned.setXYZ(i, this.nodes[3 * node], this.nodes[3 * node + 1], this.nodes[3 * node + 2]));
    pinned.needsUpdate = true;
    this.lineGeometry.attributes.position.needsUpdate = true;
    this.draw();
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

  setColoring(coloring, scale) {
    this.coloring = coloring;
    this.scale = scale;
    const stored = coloring === "strain" ? this.run.playback.strainScale : this.run.playback.areaScale;
    this.palette = new Float32Array(3 * 256);
    for (let byte = 0; byte < 256; ++byte) {
      const t = Math.min(1, Math.max(-1, (decodeSigned(byte) * stored) / scale));
      divergingColor(0.5 + 0.5 * t).convertSRGBToLinear().toArray(this.palette, 3 * byte);
    }
    this.fillColors();
    this.draw();
  }

  fillColors() {
    if (!this.palette) return;
    const color = this.geometry.attributes.color, { areaErrors, edgeStrains } = this.run.playback;
    const frame = Math.round(this.frame), c = color.array, palette = this.palette;
    const inks = garmentInks.map((ink) => new THREE.Color(ink).convertSRGBToLinear().toArray());
    let first = 0;
    for (let v = 0; v < this.nodeOfVertex.length; ++v) {
      const node = this.nodeOfVertex[v];
      if (node >= 0 && (v === 0 || this.faceOfVertex[v] !== this.faceOfVertex[v - 1])) first = v;
      if (this.coloring === "garment") {
        const ink = inks[this.garmentOfFace[this.faceOfVertex[v]] % inks.length];
        for (let k = 0; k < 3; ++k) c[3 * v + k] = ink[k];
      } else if (this.coloring === "area" || node >= 0) {
        const byte = this.coloring === "area" ? areaErrors[frame * this.run.faceCount + this.numberOfFace[this.faceOfVertex[v]]]
          : edgeStrains[frame * this.run.nodeCount + node];
        for (let k = 0; k < 3; ++k) c[3 * v + k] = palette[3 * byte + k];
      } else {
        for (let k = 0; k < 3; ++k)
          c[3 * v + k] = (c[3 * first + k] + c[3 * first + 3 + k] + c[3 * first + 6 + k] + c[3 * first + 9 + k]) / 4;
      }
    }
    color.needsUpdate = true;
  }

  showMesh(visible) {
    this.lines.visible = visible;
    this.draw();
  }

  // One picture per screen refresh at most.
  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.renderer.render(this.scene, this.camera);
    });
  }
}
