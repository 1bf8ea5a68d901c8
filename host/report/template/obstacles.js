// The obstacles in 3D.

// Where obstacle o is for one clock, between frames k and k + 1 of the playback.
function obstaclePose(run, o, clock, k, blend) {
  const { moving, poses } = run.obstacles[o];
  const at = (frame) => 7 * (moving ? Math.min(frame, run.playback.times.length - 1) * run.clockCount + clock : 0);
  const center = (i) => new THREE.Vector3(poses[i], poses[i + 1], poses[i + 2]);
  const turn = (i) => new THREE.Quaternion(poses[i + 3], poses[i + 4], poses[i + 5], poses[i + 6]).normalize();
  const a = at(k), b = at(k + 1);
  return { center: center(a).lerp(center(b), blend), turn: turn(a).slerp(turn(b), blend) };
}

// Box of the obstacles, planes left out, in a few frames; of those larger than the cloth's way only the near part.
function obstacleBox(run, clock, cloth) {
  const box = new THREE.Box3(), last = run.playback.times.length - 1, p = new THREE.Vector3();
  const extent = (b) => b.getSize(new THREE.Vector3()).length();
  const near = cloth.clone().expandByScalar(0.3 * extent(cloth));
  run.obstacles.forEach(({ shape, vertices, moving }, o) => {
    if (shape === "plane") return;
    const step = Math.max(1, Math.floor(last / 8));
    for (let frame = 0; frame <= (moving ? last : 0); frame += step) {
      const { center, turn } = obstaclePose(run, o, clock, frame, 0), here = new THREE.Box3();
      for (let i = 0; i < vertices.length; i += 3)
        here.expandByPoint(p.set(vertices[i], vertices[i + 1], vertices[i + 2]).applyQuaternion(turn).add(center));
      if (here.intersectsBox(near)) box.union(extent(here) < 1.5 * extent(cloth) ? here : here.intersect(near));
    }
  });
  return box;
}

// Corners as vertices of their own, each with the mean normal of the triangles that meet there within 40 degrees.
function creasedGeometry(vertices, triangles) {
  const count = triangles.length / 3, normals = new Float32Array(3 * count);
  const around = new Map();
  for (let t = 0; t < count; ++t) {
    const [a, b, c] = [0, 1, 2].map((k) => new THREE.Vector3().fromArray(vertices, 3 * triangles[3 * t + k]));
    b.sub(a).cross(c.sub(a)).toArray(normals, 3 * t);
    for (let k = 0; k < 3; ++k) {
      const corner = triangles[3 * t + k];
      if (!around.has(corner)) around.set(corner, []);
      around.get(corner).push(t);
    }
  }
  const normal = new THREE.Vector3(), other = new THREE.Vector3(), sum = new THREE.Vector3();
  const position = new Float32Array(9 * count), smooth = new Float32Array(9 * count);
  for (let i = 0; i < 3 * count; ++i) {
    normal.fromArray(normals, 3 * Math.floor(i / 3));
    sum.set(0, 0, 0);
    for (const t of around.get(triangles[i])) {
      other.fromArray(normals, 3 * t);
      if (other.dot(normal) > 0.766 * other.length() * normal.length()) sum.add(other);
    }
    sum.normalize().toArray(smooth, 3 * i);
    for (let k = 0; k < 3; ++k) position[3 * i + k] = vertices[3 * triangles[i] + k];
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(smooth, 3));
  return geometry;
}

// Edges where triangles meet at more than 40 degrees.
function creaseLines(vertices, triangles) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(vertices, 3));
  geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
  return new THREE.EdgesGeometry(geometry, 40);
}

// Full in the middle, nothing at the rim.
function fadingDisc() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const context = canvas.getContext("2d"), gradient = context.createRadialGradient(128, 128, 0, 128, 128, 128);
  for (let i = 0; i <= 8; ++i) {
    const level = Math.round(255 * (1 - i / 8) ** 1.5);
    gradient.addColorStop(i / 8, `rgb(${level}, ${level}, ${level})`);
  }
  context.fillStyle = gradient;
  context.fillRect(0, 0, 256, 256);
  return new THREE.CanvasTexture(canvas);
}

class ObstacleView {
  // places: where all obstacles are drawn once, { clock, offset }, cut off at the sides of a cell where there is one.
  constructor(scene, run, places, center, radius) {
    this.run = run;
    this.items = [];
    this.solids = [];
    this.lines = [];
    this.discs = [];
    this.grids = [];
    const isLevel = (o) => new THREE.Vector3(0, 0, 1).applyQuaternion(obstaclePose(run, o, places[0].clock, 0, 0).turn).z > 0.99;
    this.hasGround = run.obstacles.some(({ shape }, o) => shape === "plane" && isLevel(o));
    const shapes = run.obstacles.map(({ shape, vertices, triangles }) => shape === "plane" ? {}
      : { surface: creasedGeometry(vertices, triangles), creases: ["box", "cylinder"].includes(shape) && creaseLines(vertices, triangles) });
    for (const place of places) {
      const clippingPlanes = place.cell ? this.walls(place.cell) : null;
      run.obstacles.forEach(({ shape }, o) => {
        const group = new THREE.Group();
        if (shape === "plane") this.addPlane(group, o, place, center, radius, clippingPlanes);
        else this.addSolid(group, shapes[o], clippingPlanes);
        this.items.push({ group, o, place });
        scene.add(group);
      });
    }
    this.show(0, 0);
  }

  // The four upright sides of a box, what is inside on the positive side.
  walls(cell) {
    const x = new THREE.Vector3(1, 0, 0), y = new THREE.Vector3(0, 1, 0);
    return [new THREE.Plane(x, -cell.min.x), new THREE.Plane(y, -cell.min.y),
      new THREE.Plane(x.clone().negate(), cell.max.x), new THREE.Plane(y.clone().negate(), cell.max.y)];
  }

  // Pushed back a little in depth: cloth that lies on it is seen.
  addSolid(group, { surface, creases }, clippingPlanes) {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0, side: THREE.DoubleSide, clippingPlanes,
      polygonOffset: true, polygonOffsetFactor: 3, polygonOffsetUnits: 3 });
    const mesh = new THREE.Mesh(surface, material);
    mesh.castShadow = mesh.receiveShadow = true;
    group.add(mesh);
    this.solids.push(material);
    if (!creases) return;
    const line = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.6, clippingPlanes });
    group.add(new THREE.LineSegments(creases, line));
    this.lines.push(line);
  }

  // A disc below the middle of what is seen, with a grid.
  addPlane(group, o, place, center, radius, clippingPlanes) {
    const middle = place.cell ? place.cell.getCenter(new THREE.Vector3()).sub(place.offset) : center.clone();
    const size = place.cell ? place.cell.getSize(new THREE.Vector3()).length() / 2 : radius;
    const pose = obstaclePose(this.run, o, place.clock, 0, 0);
    middle.sub(pose.center).applyQuaternion(pose.turn.clone().conjugate());
    const material = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0, side: THREE.DoubleSide, clippingPlanes,
      transparent: true, opacity: 0.7, depthWrite: false, alphaMap: fadingDisc(), polygonOffset: true, polygonOffsetFactor: 3, polygonOffsetUnits: 3 });
    const disc = new THREE.Mesh(new THREE.CircleBufferGeometry(3.4 * size, 64), material);
    disc.position.set(middle.x, middle.y, 0);
    disc.receiveShadow = true;
    disc.renderOrder = -2;
    group.add(disc);
    this.discs.push(material);
    if (place.cell) return;
    const grid = fadingGrid(middle.x, middle.y, 0, size);
    grid.renderOrder = -1;
    group.add(grid);
    this.grids.push(grid.material);
  }

  show(k, blend) {
    for (const { group, o, place } of this.items) {
      const { center, turn } = obstaclePose(this.run, o, place.clock, k, blend);
      group.position.copy(center).add(place.offset);
      group.quaternion.copy(turn);
    }
  }

  applyTheme() {
    const surface = themeColor("--obstacle").convertSRGBToLinear(), edge = themeColor("--obstacle-edge"), line = themeColor("--floor-line");
    for (const material of [...this.solids, ...this.discs]) material.color = surface;
    for (const material of this.lines) material.color = edge.clone().convertSRGBToLinear();
    for (const material of this.grids) material.uniforms.color.value = line;
  }
}
