// Plays a recording (dots) beside the fitted cloth (lines). Data: see player_data in fit_page.cpp.
"use strict";
for (const figure of document.querySelectorAll("figure.player")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const cloth = floats(data.cloth), seen = floats(data.seen), count = data.points, frames = data.times.length;
  const canvas = figure.querySelector("canvas"), slider = figure.querySelector("input"), button = figure.querySelector("button");
  const label = figure.querySelector("output"), pen = canvas.getContext("2d");
  let yaw = 0.7, pitch = 0.25, playing = false, frame = 0, drag = null;
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < cloth.length; ++i)
    if (isFinite(cloth[i])) { low[i % 3] = Math.min(low[i % 3], cloth[i]); high[i % 3] = Math.max(high[i % 3], cloth[i]); }
  const middle = low.map((v, k) => (v + high[k]) / 2);
  const size = Math.hypot(...high.map((v, k) => v - low[k])) || 1;
  const project = (array, i) => {
    const [x, y, z] = [0, 1, 2].map((k) => array[3 * i + k] - middle[k]);
    const side = Math.cos(yaw) * x + Math.sin(yaw) * y, depth = -Math.sin(yaw) * x + Math.cos(yaw) * y;
    const scale = 0.92 * Math.min(canvas.width, canvas.height) / size;
    return [canvas.width / 2 + scale * side, canvas.height / 2 - scale * (Math.cos(pitch) * z + Math.sin(pitch) * depth)];
  };
  const draw = () => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const base = frame * count;
    pen.strokeStyle = "#d1495b";
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [a, b] of data.edges) {
      const p = project(cloth, base + a), q = project(cloth, base + b);
      if (isFinite(p[0]) && isFinite(q[0])) { pen.moveTo(...p); pen.lineTo(...q); }
    }
    // Points that share no edge: how far each is from where it was seen.
    for (let i = 0; i < count && data.edges.length === 0; ++i) {
      const p = project(cloth, base + i), q = project(seen, base + i);
      if (!isFinite(p[0])) continue;
      pen.moveTo(p[0] + 4, p[1]);
      pen.arc(p[0], p[1], 4, 0, 7);
      if (isFinite(q[0])) { pen.moveTo(...p); pen.lineTo(...q); }
    }
    pen.stroke();
    pen.fillStyle = "#222";
    for (let i = 0; i < count; ++i) {
      const [x, y] = project(seen, base + i);
      if (isFinite(x)) pen.fillRect(x - 2, y - 2, 4, 4);
    }
    label.textContent = data.times[frame].toFixed(2) + " s";
    slider.value = frame;
  };
  slider.max = frames - 1;
  slider.addEventListener("input", () => { frame = Number(slider.value); draw(); });
  canvas.addEventListener("pointerdown", (e) => { drag = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    yaw += (e.clientX - drag[0]) / 150;
    pitch = Math.max(-1.5, Math.min(1.5, pitch + (e.clientY - drag[1]) / 150));
    drag = [e.clientX, e.clientY];
    draw();
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  let began = 0;
  const tick = (now) => {
    if (!playing) return;
    const time = data.times[0] + (now - began) / 1000;
    while (frame + 1 < frames && data.times[frame + 1] <= time) ++frame;
    if (frame + 1 === frames) { frame = 0; began = now; }
    draw();
    requestAnimationFrame(tick);
  };
  button.addEventListener("click", () => {
    playing = !playing;
    button.textContent = playing ? "Pause" : "Play";
    began = performance.now() - 1000 * (data.times[frame] - data.times[0]);
    if (playing) requestAnimationFrame(tick);
  });
  frame = Math.floor(frames / 2);
  draw();
}
