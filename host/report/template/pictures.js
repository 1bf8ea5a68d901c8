// The 3D view as a file: a PNG of the moment, a WebM of the playback.

function saveFile(blob, name) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (scene) => scene.replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "isocloth";

// The stage as the reader sees it: background, cells, names and, for errors, the colour scale. Draws onto a canvas
// of the size of the renderer's, less an odd row or column, which video coders refuse.
function composePicture(viewer, canvas, legend) {
  const picture = viewer.renderer.domElement, ratio = picture.width / viewer.stage.clientWidth;
  const width = picture.width & ~1, height = picture.height & ~1;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d"), style = getComputedStyle(document.body);
  const color = (name) => `#${themeColor(name).getHexString()}`;
  const background = context.createLinearGradient(0, 0, 0, height);
  background.addColorStop(0, color("--stage-high"));
  background.addColorStop(1, color("--stage-low"));
  context.fillStyle = background;
  context.fillRect(0, 0, width, height);
  context.drawImage(picture, 0, 0);
  context.font = `${12 * ratio}px ${style.fontFamily}`;
  context.fillStyle = color("--muted");
  for (const { area, label } of viewer.cells)
    if (label) context.fillText(label.textContent, (area.x + 10) * ratio, (area.y + 18) * ratio, (area.width - 20) * ratio);
  if (!legend) return;
  if (legend.pattern) {
    const { width: wide, height: tall } = legend.pattern, fit = Math.min((0.3 * width) / wide, (0.5 * height) / tall);
    context.drawImage(legend.pattern, width - 16 * ratio - fit * wide, height - 16 * ratio - fit * tall, fit * wide, fit * tall);
  }
  const left = 16 * ratio, bottom = height - 16 * ratio, long = 200 * ratio;
  const strip = context.createLinearGradient(left, 0, left + long, 0);
  for (const [at, ink] of legend.inks) strip.addColorStop(at, ink);
  context.fillStyle = strip;
  context.fillRect(left, bottom - 24 * ratio, long, 8 * ratio);
  context.fillStyle = color("--text");
  context.fillText(legend.title, left, bottom - 32 * ratio);
  context.fillText(legend.low, left, bottom);
  context.textAlign = "center";
  context.fillText(legend.middle, left + long / 2, bottom);
  context.textAlign = "right";
  context.fillText(legend.high, left + long, bottom);
  context.textAlign = "left";
}

// At least two pixels per point of the page, whatever the screen has.
function savePicture(viewer, name, legend) {
  const canvas = document.createElement("canvas"), ratio = viewer.renderer.getPixelRatio();
  viewer.renderer.setPixelRatio(Math.max(2, ratio));
  viewer.render();
  composePicture(viewer, canvas, legend);
  viewer.renderer.setPixelRatio(ratio);
  viewer.render();
  return new Promise((done) => canvas.toBlob((blob) => { saveFile(blob, `${name}.png`); done(); }, "image/png"));
}

const videoTypes = [["video/webm;codecs=vp9", "webm"], ["video/webm;codecs=vp8", "webm"], ["video/webm", "webm"], ["video/mp4", "mp4"]];

// Takes down what is drawn from start() to stop(), which saves the file.
class Recorder {
  static type() {
    return window.MediaRecorder && HTMLCanvasElement.prototype.captureStream && videoTypes.find(([type]) => MediaRecorder.isTypeSupported(type));
  }

  constructor(viewer, name, legend) {
    const [type, ending] = Recorder.type();
    Object.assign(this, { viewer, legend, canvas: document.createElement("canvas"), parts: [] });
    composePicture(viewer, this.canvas, legend());
    const pixels = this.canvas.width * this.canvas.height;
    this.recorder = new MediaRecorder(this.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: Math.min(24e6, 4e6 + 8 * pixels) });
    this.recorder.ondataavailable = (event) => this.parts.push(event.data);
    this.recorder.onstop = () => saveFile(new Blob(this.parts, { type: type.split(";")[0] }), `${name}.${ending}`);
  }

  start() {
    this.viewer.onRender = () => composePicture(this.viewer, this.canvas, this.legend());
    this.recorder.start(1000);
  }

  stop() {
    this.viewer.onRender = null;
    this.recorder.stop();
  }
}
