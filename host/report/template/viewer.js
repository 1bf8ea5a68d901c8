// The 3D view: one cell for all garments together, or one for each side by side, all seen from the same direction.

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
function garmentBox(run, garment, firstFrame, lastFrame, step = 1) {
  const { positions, boxMin, boxSize } = run.playback, low = [65535, 65535, 65535], high = [0, 0, 0];
  for (let frame = firstFrame; frame <= lastFrame; frame += step) {
    const begin = 3 * (frame * run.nodeCount + garment.nodeBegin);
    for (let i = 0; i < 3 * garment.nodeCount; ++i) {
      const q = positions[begin + i], k = i % 3;
      if (q < low[k]) low[k] = q;
      if (q > high[k]) high[k] = q;
    }
  }
  const corner = (q) => new THREE.Vector3(...[0, 1, 2].map((k) => boxMin[k] + (boxSize[k] * q[k]) / 65535));
  return new THREE.Box3(corner(low), corner(high));
}

// Whether most garments begin where the one before them begins, as replicas do.
function garmentsCoincide(run) {
  if (run.garmentsMeet || run.garments.some(({ isDriven }) => isDriven)) return false;  // worn, not copies of each other
  const boxes = run.garments.map((garment) => garmentBox(run, garment, 0, 0));
  const close = boxes.filter((box, g) => g > 0 && box.getCenter(new THREE.Vector3()).distanceTo(boxes[g - 1].getCenter(new THREE.Vector3()))
    < 0.3 * box.getSize(new THREE.Vector3()).length());
  return 2 * close.length >= boxes.length && boxes.length > 1;
}

function fadingGridMaterial() {
  return new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, uniforms: { color: { value: new THREE.Color() } },
    vertexShader: "attribute float fade; varying float f; void main() { f = fade; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "uniform vec3 color; varying float f; void main() { gl_FragColor = vec4(color, f); }",
  });
}

// Lines in a plane z = constant that fade out with the distance from a point.
function fadingGrid(material, x, y, z, radius) {
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
  return new THREE.LineSegments(geometry, material);
}

function discTexture() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.arc(16, 16, 14, 0, 7);
  context.fill();
  return new THREE.CanvasTexture(canvas);
}

// Garments, their obstacles, floor and lights; `box` is what the camera takes in.
class Cell {
  constructor(viewer, garments, box, radius, shadowSize) {
    const { run, models, materials } = viewer;
    this.garments = garments;
    this.clock = run.garments[garments[0]].clock;
    this.models = models;
    this.center = box.getCenter(new THREE.Vector3());
    this.scene = new THREE.Scene();
    this.cloth = new Cloth(run, garments, materials);
    this.scene.add(this.cloth.mesh, this.cloth.lines, this.cloth.points);
    this.obstacles = models.addTo(this.scene, this.clock, this.center, radius);
    if (!models.hasGround(this.clock)) this.addFloor(materials, models, box.min.z - 0.03 * radius, radius);
    this.addLights(radius, shadowSize);
  }

  // A floor that catches the shadow and fades out with distance, just below the lowest point of the run.
  addFloor(materials, models, z, radius) {
    const floor = new THREE.Mesh(new THREE.PlaneBufferGeometry(14 * radius, 14 * radius), materials.shadow);
    floor.position.set(this.center.x, this.center.y, z);
    floor.receiveShadow = true;
    this.scene.add(floor, fadingGrid(models.grid, this.center.x, this.center.y, z, radius));
  }

  addLights(radius, shadowSize) {
    const sky = new THREE.HemisphereLight(0xffffff, 0xc9c3b8, 0.66);
    sky.position.set(0, 0, 1);
    this.key = new THREE.DirectionalLight(0xfff6e8, 0.66);
    this.fill = new THREE.DirectionalLight(0xe6efff, 0.26);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(shadowSize, shadowSize);
    this.key.shadow.radius = 4;
    this.key.shadow.bias = -2.4 / shadowSize;
    Object.assign(this.key.shadow.camera, { left: -1.2 * radius, right: 1.2 * radius, top: 1.2 * radius, bottom: -1.2 * radius, near: 0.1 * radius, far: 9 * radius });
    for (const light of [this.key, this.fill]) {
      light.target.position.copy(this.center);
      this.scene.add(light, light.target);
    }
    this.scene.add(sky);
  }

  placeLights(azimuth, radius) {
    const place = (light, turn, height) => light.position.copy(this.center)
      .add(new THREE.Vector3(Math.cos(azimuth + turn), Math.sin(azimuth + turn), height).setLength(4 * radius));
    place(this.key, -0.75, 1.25);
    place(this.fill, 1.9, 0.35);
  }

  show(k, blend) {
    this.cloth.show(k, blend);
    this.models.place(this.obstacles, this.clock, k, blend);
  }

  dispose() {
    this.cloth.dispose();
    if (this.key.shadow.map) this.key.shadow.map.dispose();
    const kept = new Set(this.models.surfaces.flatMap(({ surface, creases }) => [surface, creases]));
    this.scene.traverse((object) => { if (object.geometry && !kept.has(object.geometry)) object.geometry.dispose(); });
  }
}

// Most garments that are side by side at once.
const cellsPerPage = 25;

class Viewer {
  constructor(stage, run) {
    Object.assign(this, { stage, run, cells: [], frame: 0, errors: null, palette: null, meshVisible: false });
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(this.pixelRatio());
    this.renderer.gammaOutput = true;
    this.renderer.gammaFactor = 2.2;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.setScissorTest(true);
    stage.prepend(this.renderer.domElement);
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.models = new ObstacleModels(run);
    this.materials = {
      cloth: clothMaterial(),
      line: new THREE.LineBasicMaterial({ transparent: true }),
      pin: new THREE.PointsMaterial({ size: 7, sizeAttenuation: false, map: discTexture(), alphaTest: 0.5, transparent: true }),
      shadow: new THREE.ShadowMaterial({ opacity: 0.16 }),
    };
    this.checks = checkTexture(this.renderer.capabilities.getMaxAnisotropy());
    this.controls = new THREE.OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableKeys = false;
    this.controls.rotateSpeed = 0.8;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener("change", () => this.draw());
    // The wheel scrolls the page until the view has been touched.
    stage.addEventListener("wheel", (event) => { if (!event.ctrlKey && document.activeElement !== stage) event.stopPropagation(); }, { capture: true });
    stage.addEventListener("pointerdown", (event) => { if (!event.target.closest("button, select")) stage.focus({ preventScroll: true }); }, { capture: true });
    this.applyTheme();
    new ResizeObserver(() => this.resize()).observe(stage);
  }

  pixelRatio() {
    return Math.min(2, window.devicePixelRatio || 1);
  }

  // arrangement: "together" all garments where they are, "page:n" those of a page side by side, or the number of one.
  arrange(arrangement) {
    const { garments, playback } = this.run, last = playback.times.length - 1, step = Math.max(1, Math.floor(last / 24));
    const all = garments.map((_, g) => g);
    const page = typeof arrangement === "string" && arrangement.startsWith("page:") ? Number(arrangement.slice(5)) : -1;
    const groups = page >= 0 ? all.slice(page * cellsPerPage, (page + 1) * cellsPerPage).map((g) => [g])
      : [typeof arrangement === "number" ? [arrangement] : all];
    this.outline = [];
    const boxes = groups.map((group) => {
      const box = new THREE.Box3();
      for (const g of group) box.union(garmentBox(this.run, garments[g], 0, last, step));
      const solids = obstacleBoxes(this.run, garments[group[0]].clock, box);
      for (const solid of solids) box.union(solid);
      this.addOutline(group, solids, box.getCenter(new THREE.Vector3()));
      return box;
    });
    this.size = new THREE.Vector3();
    for (const box of boxes) this.size.max(box.getSize(new THREE.Vector3()));
    this.radius = Math.max(1e-6, this.size.length() / 2);
    for (const cell of this.cells) cell.dispose();
    const shadowSize = groups.length > 4 ? 512 : groups.length > 1 ? 1024 : 2048;
    this.cells = groups.map((group, i) => new Cell(this, group, boxes[i], this.radius, shadowSize));
    // Fine meshes get fainter lines: they would cover the colours.
    const edgeCount = Math.max(...this.cells.map((cell) => cell.cloth.edgeCount));
    this.materials.line.opacity = Math.min(0.35, Math.max(0.08, 0.35 * Math.sqrt(6000 / (edgeCount * this.cells.length))));
    this.materials.pin.size = this.cells.length > 1 ? 4 : 7;
    this.stage.parentElement.classList.toggle("several", this.cells.length > 1);
    this.labelCells();
    this.layOut();
    this.front = this.findFront();
    this.resetView();
    this.showMesh(this.meshVisible);
    this.show(this.frame);
  }

  // Mean of the first cloth's normals in the first frame: 1 long where it is flat.
  findFront() {
    const { cloth } = this.cells[0], sum = [0, 0, 0];
    cloth.show(0, 0);
    cloth.nodeNormals.forEach((x, i) => { sum[i % 3] += x / cloth.nodeCount; });
    return sum;
  }

  // Points that the camera must take in, seen from the middle of their cell: some nodes in some frames, solids.
  addOutline(group, solids, center) {
    const { run } = this, { positions, boxMin, boxSize, times } = run.playback;
    for (const solid of solids)
      for (let i = 0; i < 8; ++i)
        this.outline.push(new THREE.Vector3(i & 1 ? solid.max.x : solid.min.x, i & 2 ? solid.max.y : solid.min.y, i & 4 ? solid.max.z : solid.min.z).sub(center));
    for (const { nodeBegin, nodeCount } of group.map((g) => run.garments[g]))
      for (let frame = 0; frame < times.length; frame += Math.max(1, Math.floor(times.length / 12)))
        for (let node = 0; node < nodeCount; node += Math.max(1, Math.floor(nodeCount / 200))) {
          const at = 3 * (frame * run.nodeCount + nodeBegin + node);
          this.outline.push(new THREE.Vector3(...[0, 1, 2].map((k) => boxMin[k] + (boxSize[k] * positions[at + k]) / 65535)).sub(center));
        }
  }

  labelCells() {
    for (const old of this.stage.querySelectorAll(".cell")) old.remove();
    if (this.cells.length < 2) return;
    const tones = ["", "fair", "bad", "bad", ""], words = ["", "missed its tolerance", "frozen", "frozen", "cut by its budget"];
    for (const cell of this.cells) {
      const g = cell.garments[0], { name, status } = this.run.garments[g];
      const button = html("button", { title: `${name}${words[status] ? `: ${words[status]}` : ""}; show it alone`, class: tones[status] || "" }, name);
      button.addEventListener("click", () => this.onChoose && this.onChoose(g));
      cell.label = html("div", { class: "cell" }, button);
      this.stage.append(cell.label);
    }
  }

  // Rows and columns that make the cells' content largest.
  layOut() {
    const width = this.stage.clientWidth, height = this.stage.clientHeight, count = this.cells.length;
    if (!width || !height || !count) return;
    const wanted = Math.max(this.size.x, this.size.y, 1e-9) / Math.max(this.size.z, 0.5 * Math.max(this.size.x, this.size.y), 1e-9);
    let best = { scale: 0 };
    for (let columns = 1; columns <= count; ++columns) {
      const rows = Math.ceil(count / columns), scale = Math.min(width / columns / wanted, height / rows);
      if (scale > best.scale) best = { scale, columns, rows };
    }
    const { columns, rows } = best;
    this.cells.forEach((cell, i) => {
      const column = i % columns, row = Math.floor(i / columns);
      const x = Math.round((column * width) / columns), y = Math.round((row * height) / rows);
      cell.area = { x, y, width: Math.round(((column + 1) * width) / columns) - x, height: Math.round(((row + 1) * height) / rows) - y };
      if (!cell.label) return;
      Object.assign(cell.label.style, { left: `${x}px`, top: `${y}px`, width: `${cell.area.width}px`, height: `${cell.area.height}px` });
      const { name } = this.run.garments[cell.garments[0]], number = name.match(/\[(\d+)\]$/);
      cell.label.firstChild.textContent = cell.area.width < 100 && number ? number[1] : name;
    });
    this.camera.aspect = this.cells[0].area.width / this.cells[0].area.height;
    this.camera.updateProjectionMatrix();
  }

  applyTheme() {
    this.models.applyTheme();
    this.materials.line.color = themeColor("--cloth-edge").convertSRGBToLinear();
    this.materials.pin.color = themeColor("--accent").convertSRGBToLinear();
    this.materials.shadow.opacity = themeColor("--ground").getHSL({}).l < 0.5 ? 0.42 : 0.17;
    this.draw();
  }

  // Azimuth and elevation in degrees of the eye seen from the centre; distance 1 shows the whole run.
  setView(azimuth, elevation, distance = 1) {
    const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180, center = this.cells[0].center;
    const direction = new THREE.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
    const right = new THREE.Vector3(0, 0, 1).cross(direction).normalize(), up = direction.clone().cross(right);
    const points = this.outline.map((p) => ({ depth: p.dot(direction), along: [p.dot(right), p.dot(up)] }));
    const tall = Math.tan((this.camera.fov * Math.PI) / 360), tangents = [tall * this.camera.aspect, tall], middle = [0, 0];
    let far = 0;
    // The middle of the picture follows from the distance, and the other way round: twice is close enough.
    for (let pass = 0; pass < 3; ++pass) {
      far = this.radius;
      for (const { depth, along } of points)
        for (const k of [0, 1]) far = Math.max(far, depth + Math.abs(along[k] - middle[k]) / tangents[k]);
      for (const k of pass < 2 ? [0, 1] : []) {
        const slopes = points.map(({ depth, along }) => (along[k] - middle[k]) / (far - depth));
        middle[k] += (far * slopes.reduce((sum, s) => [Math.min(sum[0], s), Math.max(sum[1], s)], [0, 0]).reduce((x, y) => x + y)) / 2;
      }
    }
    far *= 1.08 * distance;
    const target = center.clone().addScaledVector(right, middle[0]).addScaledVector(up, middle[1]);
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, far);
    this.camera.near = far / 100;
    this.camera.far = far + 40 * this.radius;
    this.camera.updateProjectionMatrix();
    for (const cell of this.cells) cell.placeLights(a, this.radius);
    this.controls.update();
    this.draw();
  }

  // Looks at the front of cloth that stands upright, else along the thinner side of the run's box; a little from
  // the side, and from above at what lies flat.
  resetView() {
    const flat = 1 - Math.min(1, this.size.z / Math.max(this.size.x, this.size.y, 1e-9)), [x, y] = this.front;
    const facing = Math.hypot(x, y) > 0.5 ? (Math.atan2(y, x) * 180) / Math.PI : this.size.x < this.size.y ? 0 : -90;
    this.setView(facing + 32, 14 + 24 * flat);
  }

  resize() {
    const width = this.stage.clientWidth, height = this.stage.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    const before = this.camera.aspect;
    this.layOut();
    if (this.cells.length && Math.abs(before - this.camera.aspect) > 0.3) this.resetView();
    this.draw();
  }

  // Shows a frame of the playback; between two frames positions are interpolated, colours are of the nearer.
  show(frame) {
    this.frame = frame;
    const k = Math.min(Math.floor(frame), this.run.playback.times.length - 1);
    for (const cell of this.cells) cell.show(k, frame - k);
    this.fillColors();
  }

  // errors: one of the run's, with the value at the ends of the palette, or null for the fabric, plain or with checks.
  setColoring(errors, scale, withChecks) {
    this.errors = errors;
    this.palette = errors && errorPalette(errors, scale);
    this.materials.cloth.map = withChecks ? this.checks : null;
    this.materials.cloth.reverse.value = errors ? 0 : 0.16;
    this.materials.cloth.needsUpdate = true;
    this.fillColors();
  }

  fillColors() {
    for (const cell of this.cells) cell.cloth.fillColors(this.errors, this.palette, Math.round(this.frame));
    if (this.onColors) this.onColors();
    this.draw();
  }

  showMesh(visible) {
    this.meshVisible = visible;
    for (const cell of this.cells) cell.cloth.lines.visible = visible;
    this.draw();
  }

  cellAt(x, y) {
    return this.cells.find(({ area }) => x >= area.x && x < area.x + area.width && y >= area.y && y < area.y + area.height);
  }

  // The error under a point of the stage, or none.
  errorAt(x, y) {
    const cell = this.errors && this.cellAt(x, y);
    if (!cell) return undefined;
    const point = new THREE.Vector2((2 * (x - cell.area.x)) / cell.area.width - 1, 1 - (2 * (y - cell.area.y)) / cell.area.height);
    return this.fromCell(cell, () => {
      const raycaster = new THREE.Raycaster();
      this.camera.updateMatrixWorld();
      raycaster.setFromCamera(point, this.camera);
      return cell.cloth.errorAt(raycaster, this.errors, Math.round(this.frame));
    });
  }

  // Does something with the camera where it is for one cell.
  fromCell(cell, action) {
    const home = this.camera.position.clone();
    this.camera.position.add(cell.center).sub(this.cells[0].center);
    const result = action();
    this.camera.position.copy(home);
    return result;
  }

  render() {
    const height = this.stage.clientHeight;
    for (const cell of this.cells) {
      const { x, y, width, height: tall } = cell.area;
      this.renderer.setViewport(x, height - y - tall, width, tall);
      this.renderer.setScissor(x, height - y - tall, width, tall);
      this.fromCell(cell, () => this.renderer.render(cell.scene, this.camera));
    }
    if (this.onRender) this.onRender();
  }

  // One picture per screen refresh at most.
  draw() {
    if (this.pending || !this.cells.length) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.render();
    });
  }
}
