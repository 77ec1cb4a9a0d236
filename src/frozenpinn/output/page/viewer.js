/* What is seen: a curve and a map over space and time, or a map of the plane; sliders, zoom, values under the pointer. */
const VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"];
const RED_BLUE = ["053061", "2166ac", "4393c3", "92c5de", "f7f7f7", "f4a582", "d6604d", "b2182b", "67001f"];
const lookup = (hex) => {
  const anchors = hex.map((h) => [0, 2, 4].map((k) => parseInt(h.slice(k, k + 2), 16)));
  return Array.from({ length: 256 }, (_, i) => {
    const s = i / 255 * (anchors.length - 1), k = Math.min(anchors.length - 2, Math.floor(s)), f = s - k;
    return anchors[k].map((c, j) => Math.round(c + f * (anchors[k + 1][j] - c)));
  });
};
const COLOURS = { sequential: lookup(VIRIDIS), diverging: lookup(RED_BLUE) };
const make = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};
const byId = (id) => document.getElementById(id);
const number = (v) => !Number.isFinite(v) ? "–" : v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(4) : String(Number(v.toPrecision(6)));

const HOME = DATA.coordinates.map((_, a) => [DATA.lower[a], DATA.upper[a]]);
const state = {
  field: 0, wanted: "", t: DATA.time ? DATA.time[0] : 0, parameters: (DATA.parameters || []).map((p) => p.values[0]),
  zoom: HOME.map((r) => [...r]), playing: false,
};
let scene = null;

/* ---- what is drawn, for the field, the quantity and the part of the domain that are chosen ---- */

function grid(ranges, counts) {
  const n = counts.reduce((a, b) => a * b, 1), points = new Float64Array(n * DIM);
  for (let p = 0; p < n; p++) {
    let rest = p;
    for (let a = DIM - 1; a >= 0; a--) {
      const k = rest % counts[a];
      rest = (rest - k) / counts[a];
      points[p * DIM + a] = ranges[a][0] + (ranges[a][1] - ranges[a][0]) * k / (counts[a] - 1);
    }
  }
  return { points, n, counts };
}

function resolution(field) {
  if (DIM === 1) return [400];
  if (field.table) return state.zoom.map(() => 64);
  const work = Math.max(...field.pieces.map((p) => p.mixing.length ? 50 : p.layers[0].size * (p.rank + 20)), 200);
  const most = Math.min(128, Math.max(48, Math.sqrt(4e8 / work)));
  const lengths = state.zoom.map(([a, b]) => b - a), longest = Math.max(...lengths);
  return lengths.map((l) => Math.max(16, Math.round(most * l / longest)));
}

function look() {
  const field = FIELDS[state.field], counts = resolution(field), shape = grid(state.zoom, counts);
  const view = field.view(shape.points, shape.n, state.wanted);
  const moments = DATA.time ? Array.from({ length: DIM === 1 ? 101 : 9 }, (_, k, m = DIM === 1 ? 100 : 8) => DATA.time[0] + (DATA.time[1] - DATA.time[0]) * k / m) : [0];
  let low = Infinity, high = -Infinity;
  const inside = DIM === 2 && DATA.loops.length ? within(shape) : null, history = [];
  for (const t of moments) {
    const values = view(t, state.parameters);
    history.push(values);
    for (let p = 0; p < shape.n; p++) if (!inside || inside[p]) { if (values[p] < low) low = values[p]; if (values[p] > high) high = values[p]; }
  }
  if (!(high > low)) { low = Number.isFinite(low) ? low - 0.5 : 0; high = low + 1; }
  const log = state.wanted === "error", limit = Math.max(-low, high);
  const both = !log && Math.min(-low, high) > 0.02 * limit;
  scene = { field, shape, view, history, moments, low, high, log, both, limit };
  draw();
}

function within(shape) {
  const path = outline((x, y) => [x, y]), context = make("canvas").getContext("2d"), inside = new Uint8Array(shape.n);
  for (let p = 0; p < shape.n; p++) inside[p] = context.isPointInPath(path, shape.points[2 * p], shape.points[2 * p + 1], "evenodd");
  return inside;
}

const LOOPS = (DATA.loops || []).map(decode);
function outline(place) {
  const path = new Path2D();
  for (const loop of LOOPS) {
    for (let k = 0; k < loop.length; k += 2) path[k ? "lineTo" : "moveTo"](...place(loop[k], loop[k + 1]));
    path.closePath();
  }
  return path;
}

function share(v) {
  const { low, high, log, both, limit } = scene;
  if (log) { const top = Math.log10(Math.max(high, 1e-300)), bottom = Math.max(Math.log10(Math.max(low, 1e-300)), top - 8); return (Math.log10(Math.max(v, 1e-300)) - bottom) / Math.max(top - bottom, 1e-9); }
  return both ? (v + limit) / (2 * limit) : (v - low) / (high - low);
}
const NONE = [128, 128, 128];
const colour = (v) => Number.isNaN(v) ? NONE : COLOURS[scene.both ? "diverging" : "sequential"][Math.max(0, Math.min(255, Math.round(255 * share(v))))];

/* ---- canvases ---- */

const PAD = { left: 58, right: 14, top: 12, bottom: 40 };

class Panel {
  constructor(name, ratio) {
    this.canvas = make("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", name);
    this.ratio = ratio;
    byId("views").append(make("figure", {}, this.canvas));
    this.context = this.canvas.getContext("2d");
  }
  begin() {
    const width = this.canvas.clientWidth || 300, scale = window.devicePixelRatio || 1;
    const height = Math.min(this.ratio() * (width - PAD.left - PAD.right) + PAD.top + PAD.bottom, 0.78 * Math.max(innerHeight, 420));
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale); this.canvas.height = Math.round(height * scale);
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    const wide = width - PAD.left - PAD.right - (this.bar ? 62 : 0), high = height - PAD.top - PAD.bottom;
    this.box = { x: PAD.left, y: PAD.top, w: DIM === 2 ? Math.min(wide, high / this.ratio()) : wide, h: DIM === 2 ? Math.min(high, wide * this.ratio()) : high };
    this.ink = getComputedStyle(document.body).color; this.soft = getComputedStyle(byId("foot")).color;
  }
  px(x) { return this.box.x + (x - this.xs[0]) / (this.xs[1] - this.xs[0]) * this.box.w; }
  py(y) { return this.box.y + this.box.h - (y - this.ys[0]) / (this.ys[1] - this.ys[0]) * this.box.h; }
  place(event) {
    const r = this.canvas.getBoundingClientRect(), { x, y, w, h } = this.box;
    const a = (event.clientX - r.left - x) / w, b = 1 - (event.clientY - r.top - y) / h;
    return a < -0.01 || a > 1.01 || b < -0.01 || b > 1.01 ? null : [this.xs[0] + Math.min(1, Math.max(0, a)) * (this.xs[1] - this.xs[0]), this.ys[0] + Math.min(1, Math.max(0, b)) * (this.ys[1] - this.ys[0])];
  }
  axes(xname, yname, log) {
    const c = this.context, { x, y, w, h } = this.box;
    c.strokeStyle = this.soft; c.fillStyle = this.ink; c.lineWidth = 1; c.font = "12px system-ui, sans-serif";
    c.strokeRect(x, y, w, h);
    c.textAlign = "center"; c.textBaseline = "top";
    for (const v of ticks(...this.xs, w / 70)) { c.fillRect(this.px(v), y + h, 1, 4); c.fillText(number(v), this.px(v), y + h + 6); }
    c.fillText(xname, x + w / 2, y + h + 22);
    c.textAlign = "right"; c.textBaseline = "middle";
    for (const v of ticks(...this.ys, h / 40)) { c.fillRect(x - 4, this.py(v), 4, 1); c.fillText(log ? `1e${Math.round(v)}` : number(v), x - 6, this.py(v)); }
    c.save(); c.translate(12, y + h / 2); c.rotate(-Math.PI / 2); c.textAlign = "center"; c.fillText(yname, 0, 0); c.restore();
  }
  scaleBar() {
    const c = this.context, x = this.box.x + this.box.w + 12, { y, h } = this.box, { low, high, log } = scene;
    const from = log ? Math.max(Math.log10(Math.max(low, 1e-300)), Math.log10(Math.max(high, 1e-300)) - 8) : low, to = log ? Math.log10(Math.max(high, 1e-300)) : high;
    for (let k = 0; k < h; k++) { const v = to - (to - from) * k / h; c.fillStyle = `rgb(${colour(log ? 10 ** v : v)})`; c.fillRect(x, y + k, 12, 1.5); }
    c.fillStyle = this.ink; c.textAlign = "left"; c.textBaseline = "middle"; c.font = "11px system-ui, sans-serif";
    for (const v of ticks(from, to, h / 40)) c.fillText(log ? `1e${Math.round(v)}` : number(v), x + 16, y + h - (v - from) / (to - from) * h);
  }
  image(values, columns, rows, clip, key) {  /* with the same key, the same picture */
    if (!this.buffer || this.buffer.width !== columns || this.buffer.height !== rows) {
      this.buffer = make("canvas", { width: columns, height: rows });
      this.pixels = this.buffer.getContext("2d").createImageData(columns, rows);
    }
    const data = this.pixels.data, known = key && key === this.key;
    this.key = key;
    for (let j = 0; j < rows && !known; j++)
      for (let i = 0; i < columns; i++) {
        const rgb = colour(values(i, rows - 1 - j)), to = 4 * (j * columns + i);
        data[to] = rgb[0]; data[to + 1] = rgb[1]; data[to + 2] = rgb[2]; data[to + 3] = 255;
      }
    if (!known) this.buffer.getContext("2d").putImageData(this.pixels, 0, 0);
    const c = this.context, { x, y, w, h } = this.box, dx = w / (columns - 1) / 2, dy = h / (rows - 1) / 2;
    c.save(); c.beginPath(); c.rect(x, y, w, h); c.clip();
    if (clip) c.clip(clip, "evenodd");
    c.imageSmoothingEnabled = true; c.imageSmoothingQuality = "high";
    c.drawImage(this.buffer, x - dx, y - dy, w + 2 * dx, h + 2 * dy);
    c.restore();
    if (clip) { c.save(); c.beginPath(); c.rect(x, y, w, h); c.clip(); c.strokeStyle = this.soft; c.lineWidth = 1.2; c.stroke(clip); c.restore(); }
  }
}

function ticks(a, b, count) {
  const raw = (b - a) / Math.max(2, Math.min(8, count)), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999), out = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) out.push(Math.abs(k * step) < 1e-12 * step ? 0 : k * step);
  return out;
}

const label = () => state.wanted === "error" ? scene.field.error.label : scene.field.name + (state.wanted ? `_${state.wanted}` : "");
const panels = [];
if (DIM === 1) {
  panels.push(new Panel("curve over space", () => 0.6));
  if (DATA.time) { panels.push(new Panel("map over space and time", () => 0.6)); panels[1].bar = true; byId("views").classList.add("pair"); }
} else {
  panels.push(new Panel("map of the plane", () => { const [a, b] = state.zoom.map(([lo, hi]) => hi - lo); return Math.min(3, Math.max(0.15, b / a)); }));
  panels[0].bar = true;
}

function draw() {
  const { view, shape, history, moments, low, high, log } = scene, values = view(state.t, state.parameters), main = panels[0];
  main.begin();
  if (DIM === 2) {
    [main.xs, main.ys] = state.zoom;
    const clip = LOOPS.length ? outline((x, y) => [main.px(x), main.py(y)]) : null;
    main.image((i, j) => values[i * shape.counts[1] + j], ...shape.counts, clip);
    main.axes(...DATA.coordinates); main.scaleBar();
  } else {
    const from = log ? Math.log10(Math.max(high, 1e-300)) - 8 : low, to = log ? Math.log10(Math.max(high, 1e-300)) : high, room = 0.05 * (to - from);
    main.xs = state.zoom[0]; main.ys = [from - room, to + room];
    const c = main.context;
    c.save(); c.beginPath(); c.rect(main.box.x, main.box.y, main.box.w, main.box.h); c.clip();
    c.beginPath();
    for (let p = 0; p < shape.n; p++) c.lineTo(main.px(shape.points[p]), main.py(log ? Math.log10(Math.max(values[p], 1e-300)) : values[p]));
    c.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent"); c.lineWidth = 2; c.stroke(); c.restore();
    main.axes(DATA.coordinates[0], label(), log);
    if (panels[1]) drawHistory(panels[1], history, moments, shape);
  }
}

function drawHistory(panel, history, moments, shape) {
  panel.begin();
  panel.xs = DATA.time; panel.ys = state.zoom[0];
  panel.image((i, j) => history[i][j], moments.length, shape.n, null, scene);
  panel.axes("t", DATA.coordinates[0]); panel.scaleBar();
  panel.context.fillStyle = panel.ink;
  panel.context.fillRect(panel.px(state.t) - 0.75, panel.box.y, 1.5, panel.box.h);
}

/* ---- the pointer ---- */

function point(panel, event) {
  const where = panel.place(event);
  if (!where) return null;
  const place = DIM === 2 ? where : [panel === panels[0] ? where[0] : where[1]], t = panel === panels[1] ? where[0] : state.t;
  if (DIM === 2 && LOOPS.length && !make("canvas").getContext("2d").isPointInPath(outline((x, y) => [x, y]), ...place, "evenodd")) return null;
  return { place, t };
}

function tell(panel, event) {
  const found = point(panel, event);
  if (!found) { byId("hint").textContent = ""; return; }
  const value = scene.field.view(Float64Array.from(found.place), 1, state.wanted)(found.t, state.parameters)[0];
  const names = DATA.coordinates.map((c, a) => `${c} = ${number(found.place[a])}`);
  if (DATA.time) names.push(`t = ${number(found.t)}`);
  byId("hint").textContent = `${names.join(", ")}:  ${label()} = ${Number(value.toPrecision(9))}`;
}

function zoomTo(ranges) {
  const sound = ranges.every(([a, b], k) => b - a > 1e-6 * (HOME[k][1] - HOME[k][0]));
  if (sound) { state.zoom = ranges.map(([a, b], k) => [Math.max(HOME[k][0], a), Math.min(HOME[k][1], b)]); look(); }
}

for (const panel of panels) {
  let pressed = null;
  panel.canvas.addEventListener("pointerdown", (event) => { pressed = { at: panel.place(event), x: event.clientX, y: event.clientY }; });
  panel.canvas.addEventListener("pointermove", (event) => tell(panel, event));
  panel.canvas.addEventListener("pointerleave", () => { byId("hint").textContent = ""; });
  panel.canvas.addEventListener("pointerup", (event) => {
    const to = panel.place(event), from = pressed && pressed.at;
    const moved = pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 6;
    if (to && from && moved && event.pointerType !== "touch") {
      const axes = DIM === 2 ? [0, 1] : [panel === panels[0] ? 0 : 1];
      zoomTo(axes.map((k) => [Math.min(from[k], to[k]), Math.max(from[k], to[k])]));
    } else if (to && panel === panels[1]) setTime(to[0]);
    pressed = null;
  });
  panel.canvas.addEventListener("dblclick", () => { state.zoom = HOME.map((r) => [...r]); look(); });
  panel.canvas.addEventListener("wheel", (event) => {
    const where = panel.place(event);
    if (!where || !(event.ctrlKey || event.shiftKey)) return;
    event.preventDefault();
    const factor = event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, centre = DIM === 2 ? where : [panel === panels[0] ? where[0] : where[1]];
    zoomTo(state.zoom.map(([a, b], k) => [centre[k] - (centre[k] - a) * factor, centre[k] + (b - centre[k]) * factor]));
  }, { passive: false });
}

/* ---- controls ---- */

function setTime(t) {
  state.t = Math.min(DATA.time[1], Math.max(DATA.time[0], t));
  byId("time").value = (state.t - DATA.time[0]) / (DATA.time[1] - DATA.time[0]);
  byId("now").textContent = number(state.t);
  draw();
}

function chooser(id, text, options, change) {
  const select = make("select", { id }, ...options.map(([value, shown]) => make("option", { value, textContent: shown })));
  select.addEventListener("change", () => change(select.value));
  byId("tools").append(make("label", {}, text, select));
  return select;
}

function quantities() {
  const field = FIELDS[state.field], names = ((!field.formula && DATA.derivatives) || [""]).map((s) => [s, field.name + (s ? `_${s}` : "")]);
  return field.error ? [...names, ["error", field.error.label]] : names;
}

if (FIELDS.length > 1) chooser("field", "field", FIELDS.map((f, k) => [k, f.name]), (k) => {
  state.field = Number(k);
  byId("quantity").replaceChildren(...quantities().map(([value, textContent]) => make("option", { value, textContent })));
  state.wanted = ""; look();
});
if (quantities().length > 1) chooser("quantity", "show", quantities(), (wanted) => { state.wanted = wanted; look(); });
function slider(id, text, output, steps, change) {
  const range = make("input", { type: "range", id, min: 0, max: 1, step: steps, value: 0 });
  range.addEventListener("input", () => change(Number(range.value)));
  byId("tools").append(make("label", { className: "long" }, text, range, output));
}
(DATA.parameters || []).forEach((parameter, k) => {
  const output = make("output", { textContent: number(parameter.values[0]) }), all = parameter.values;
  slider(`parameter-${parameter.name}`, parameter.name, output, "any", (s) => {
    const at = s * (all.length - 1), i = Math.min(all.length - 2, Math.floor(at));
    state.parameters[k] = all.length === 1 ? all[0] : all[i] + (at - i) * (all[i + 1] - all[i]);
    output.textContent = number(state.parameters[k]);
    look();
  });
});
if (DATA.time) {
  const play = make("button", { type: "button", id: "play", textContent: "▶ play" });
  play.addEventListener("click", () => {
    state.playing = !state.playing;
    play.textContent = state.playing ? "❚❚ pause" : "▶ play";
    if (state.playing) requestAnimationFrame(step);
  });
  byId("tools").append(play);
  slider("time", "t", make("output", { id: "now", textContent: number(state.t) }), "any", (s) => setTime(DATA.time[0] + s * (DATA.time[1] - DATA.time[0])));
}
let last = 0;
function step(now) {
  if (!state.playing) return;
  const span = DATA.time[1] - DATA.time[0], passed = Math.min(0.1, (now - last) / 1000);
  last = now;
  setTime(state.t >= DATA.time[1] ? DATA.time[0] : state.t + span * passed / 6);
  requestAnimationFrame(step);
}
const reset = make("button", { type: "button", textContent: "whole domain" });
reset.addEventListener("click", () => { state.zoom = HOME.map((r) => [...r]); look(); });
byId("tools").append(reset);

const heading = document.querySelector("h1").textContent;
byId("told").textContent = [...DATA.equations, DATA.domain, ...DATA.told].filter((text) => text !== heading).join(" · ");
byId("foot").textContent = (DATA.kind === "network"
  ? `The networks themselves are evaluated here; they agree with Python to ${DATA.agreement.toExponential(0)} of the largest value. `
  : "Values are interpolated between those of the sweep. ") + "Drag, or hold Shift and scroll, to zoom; double-click to reset.";
frozen.framesPerSecond = (frames = 60) => {
  const start = performance.now();
  for (let k = 0; k < frames; k++) { if (DATA.time) setTime(DATA.time[0] + (DATA.time[1] - DATA.time[0]) * k / (frames - 1)); else draw(); }
  panels[0].context.getImageData(0, 0, 1, 1);
  return 1000 * frames / (performance.now() - start);
};
frozen.show = (wanted, t) => { state.wanted = wanted; if (DATA.time && t !== undefined) state.t = t; look(); };
addEventListener("resize", () => requestAnimationFrame(draw));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
look();
