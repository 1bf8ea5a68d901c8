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

// Boxes of the obstacles, planes left out, in a few frames; of those larger than the cloth's way only the near part.
function obstacleBoxes(run, clock, cloth) {
  const boxes = [], last = run.playback.times.length - 1, p = new THREE.Vector3();
  const extent = (b) => b.getSize(new THREE.Vector3()).length();
  const near = cloth.clone().expandByScalar(0.16 * extent(cloth));
  run.obstacles.forEach(({ shape, vertices, moving }, o) => {
    if (shape === "plane") return;
    const step = Math.max(1, Math.floor(last / 8));
    for (let frame = 0; frame <= (moving ? last : 0); frame += step) {
      const { center, turn } = obstaclePose(run, o, clock, frame, 0), here = new THREE.Box3();
      for (let i = 0; i < vertices.length; i += 3)
        here.expandByPoint(p.set(vertices[i], vertices[i + 1], vertices[i + 2]).applyQuaternion(turn).add(center));
      if (here.intersectsBox(near)) boxes.push(extent(here) < 1.5 * extent(cloth) ? here : here.intersect(near));
    }
  });
  return boxes;
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

// Surfaces and materials of the obstacles, once for all cells. They are pushed back a little in depth: cloth that
// lies on them is seen.
class ObstacleModels {
  constructor(run) {
    const behind = { polygonOffset: true, polygonOffsetFactor: 3, polygonOffsetUnits: 3 };
    const matt = { roughness: 0.95, metalness: 0, side: THREE.DoubleSide, ...behind };
    this.run = run;
    this.solid = new THREE.MeshStandardMaterial(matt);
    this.line = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.6 });
    this.disc = new THREE.MeshStandardMaterial({ ...matt, transparent: true, opacity: 0.7, depthWrite: false, alphaMap: fadingDisc() });
    this.grid = fadingGridMaterial();
    this.surfaces = run.obstacles.map(({ shape, vertices, triangles }) => shape === "plane" ? {}
      : { surface: creasedGeometry(vertices, triangles), creases: ["box", "cylinder"].includes(shape) && creaseLines(vertices, triangles) });
  }

  hasGround(clock) {
    const isLevel = (o) => new THREE.Vector3(0, 0, 1).applyQuaternion(obstaclePose(this.run, o, clock, 0, 0).turn).z > 0.99;
    return this.run.obstacles.some(({ shape }, o) => shape === "plane" && isLevel(o));
  }

  // One group per obstacle.
  addTo(scene, clock, center, radius) {
    return this.run.obstacles.map(({ shape }, o) => {
      const group = new THREE.Group();
      if (shape === "plane") this.addPlane(group, obstaclePose(this.run, o, clock, 0, 0), center, radius);
      else this.addSolid(group, this.surfaces[o]);
      scene.add(group);
      return group;
    });
  }

  addSolid(group, { surface, creases }) {
    const mesh = new THREE.Mesh(surface, this.solid);
    mesh.castShadow = mesh.receiveShadow = true;
    group.add(mesh);
    if (creases) group.add(new THREE.LineSegments(creases, this.line));
  }

  // A disc below the middle of what is seen, with a grid.
  addPlane(group, pose, center, radius) {
    const middle = center.clone().sub(pose.center).applyQuaternion(pose.turn.clone().conjugate());
    const disc = new THREE.Mesh(new THREE.CircleBufferGeometry(3.4 * radius, 64), this.disc);
    disc.position.set(middle.x, middle.y, 0);
    disc.receiveShadow = true;
    disc.renderOrder = -2;
    const grid = fadingGrid(this.grid, middle.x, middle.y, -0.004 * radius, radius);
    grid.renderOrder = -1;
    group.add(disc, grid);
  }

  place(groups, clock, k, blend) {
    groups.forEach((group, o) => {
      const { center, turn } = obstaclePose(this.run, o, clock, k, blend);
      group.position.copy(center);
      group.quaternion.copy(turn);
    });
  }

  applyTheme() {
    const surface = themeColor("--obstacle").convertSRGBToLinear();
    this.solid.color = surface;
    this.disc.color = surface;
    this.line.color = themeColor("--obstacle-edge").convertSRGBToLinear();
    this.grid.uniforms.color.value = themeColor("--floor-line");
  }
}
