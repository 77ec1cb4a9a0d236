"use strict";
/* The frozen networks of a solution, evaluated: u(x, t) = Σ v_k(t) φ(x)·w_k. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const DIM = DATA.coordinates.length;

function decode(entry) {
  const text = atob(entry.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const array = entry.type === "f4" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
  array.shape = entry.shape;
  return array;
}

/* Derivative of a layer's features at one point: alpha has one order per coordinate of the layer. */
class Layer {
  constructor(entry) {
    this.w = decode(entry.weights); this.o = decode(entry.origins); this.b = decode(entry.offsets);
    this.width = this.b.length; this.d = this.w.shape[1];
    this.sine = entry.activation === "sin";
    this.special = entry.special;
    this.size = this.width + 1 + this.special.length;
  }
  features(x, offset, alpha, which, out) {
    const { w, o, b, d, width } = this, order = alpha.reduce((a, c) => a + c, 0);
    for (let j = 0; j < width; j++) {
      let z = b[j], factor = 1;
      for (let a = 0; a < d; a++) {
        z += w[j * d + a] * (x[offset + a] - o[j * d + a]);
        for (let k = 0; k < alpha[a]; k++) factor *= w[j * d + a];
      }
      if (this.sine) {
        const v = order % 2 ? Math.cos(z) : Math.sin(z);
        out[j] = factor * (order % 4 >= 2 ? -v : v);
      } else {
        const s = Math.tanh(z);
        out[j] = order === 0 ? s : factor * (1 - s * s) * (order === 1 ? 1 : -2 * s);
      }
    }
    out[width] = order ? 0 : 1;
    for (let k = 0; k < this.special.length; k++) out[width + 1 + k] = special(this.special[k], x, offset, which);
    return out;
  }
}

function special(f, x, offset, which) {
  if (f.kind === "layer") {
    let re = 0, im = 0;
    for (let a = 0; a < f.at.length; a++) { const y = x[offset + a] - f.at[a]; re += f.re[a] * y; im += f.im[a] * y; }
    const [p, q] = f.terms[which], size = Math.exp(Math.min(re, 50));
    return size * (p * Math.cos(im) - q * Math.sin(im));
  }
  const dx = x[offset] - f.at[0], dy = x[offset + 1] - f.at[1];
  const [[ar, ai], [br, bi]] = f.slopes, zr = dx * ar + dy * br, zi = dx * ai + dy * bi;
  const c = Math.cos(f.middle), s = Math.sin(f.middle);
  const angle = Math.atan2(zi * c - zr * s, zr * c + zi * s) + f.middle;
  const log = Math.log(Math.max(Math.hypot(zr, zi), 1e-12));
  let total = 0;
  for (const [a, own, b, kind, fr, fi] of f.terms[which]) {  // exp((a + i own)·log z + b·log z̄)
    const size = Math.exp((a + b) * log - own * angle), turn = (a - b) * angle + own * log;
    let re = size * Math.cos(turn), im = size * Math.sin(turn);
    if (kind === 1) [re, im] = [re * log - im * angle, re * angle + im * log];
    else if (kind === 2) { re *= log; im *= log; }
    total += re * fr - im * fi;
  }
  return total;
}

const LAYERS = (DATA.layers || []).map((entry) => new Layer(entry));
const NODES = 8;
const UNIT = Array.from({ length: NODES }, (_, j) => (1 - Math.cos(Math.PI * j / (NODES - 1))) / 2);
const SIGNS = UNIT.map((_, j) => (j % 2 ? -1 : 1) * (j === 0 || j === NODES - 1 ? 0.5 : 1));

/* A field in one window of time. */
class Piece {
  constructor(entry) {
    this.start = entry.start;
    this.layers = entry.layers.map((k) => LAYERS[k]);
    this.mixing = entry.mixing.map(decode);
    this.modes = decode(entry.modes); this.rank = this.modes.shape[1];
    this.breaks = decode(entry.breaks); this.course = decode(entry.course);
  }
  /* How much there is of each mode at a time, or the rate of that. */
  amounts(t, rate) {
    const k = this.rank, out = new Float64Array(k);
    if (this.breaks.length === 1) { if (!rate) out.set(this.course); return out; }
    let cell = 0;
    while (cell < this.breaks.length - 2 && t >= this.breaks[cell + 1]) cell++;
    const a = this.breaks[cell], h = this.breaks[cell + 1] - a, weights = new Float64Array(NODES);
    const s = Math.min(1, Math.max(0, (t - a) / h));
    let hit = -1, sum = 0;
    for (let j = 0; j < NODES; j++) if (Math.abs(s - UNIT[j]) < 1e-14) hit = j;
    if (rate) return this.rates(s, h, cell, hit, out);
    for (let j = 0; j < NODES; j++) { weights[j] = hit < 0 ? SIGNS[j] / (s - UNIT[j]) : Number(j === hit); sum += weights[j]; }
    for (let j = 0; j < NODES; j++)
      for (let i = 0, row = (cell * NODES + j) * k; i < k; i++) out[i] += weights[j] / sum * this.course[row + i];
    return out;
  }
  rates(s, h, cell, hit, out) {
    const k = this.rank, weights = new Float64Array(NODES);
    if (hit < 0) {
      let sum = 0, slope = 0;
      for (let j = 0; j < NODES; j++) { const g = s - UNIT[j]; sum += SIGNS[j] / g; slope += SIGNS[j] / (g * g); }
      for (let j = 0; j < NODES; j++) { const g = s - UNIT[j]; weights[j] = SIGNS[j] / g / sum * (slope / sum - 1 / g); }
    } else {
      let sum = 0;
      for (let j = 0; j < NODES; j++)
        if (j !== hit) { weights[j] = SIGNS[j] / SIGNS[hit] / (UNIT[hit] - UNIT[j]); sum += weights[j]; }
      weights[hit] = -sum;
    }
    for (let j = 0; j < NODES; j++)
      for (let i = 0, row = (cell * NODES + j) * k; i < k; i++) out[i] += weights[j] / h * this.course[row + i];
    return out;
  }
  /* Modes at points, shape (n, rank); the derivative is number `which` of DATA.derivatives. */
  table(points, n, alpha, which) {
    return this.mixing.length ? this.productTable(points, n, alpha, which) : this.networkTable(points, n, alpha, which);
  }
  networkTable(points, n, alpha, which) {
    const layer = this.layers[0], k = this.rank, f = new Float64Array(layer.size), out = new Float64Array(n * k);
    for (let p = 0; p < n; p++) {
      layer.features(points, p * DIM, alpha, which, f);
      for (let j = 0; j < layer.size; j++) {
        const v = f[j];
        if (v !== 0) for (let i = 0, row = j * k, to = p * k; i < k; i++) out[to + i] += v * this.modes[row + i];
      }
    }
    return out;
  }
  axisTable(axis, places, order, which) {
    const layer = this.layers[axis], mix = this.mixing[axis], r = mix.shape[1], f = new Float64Array(layer.size);
    const out = new Float64Array(places.length * r);
    for (let p = 0; p < places.length; p++) {
      layer.features(places, p, [order], which, f);
      for (let j = 0; j < layer.size; j++)
        for (let i = 0; i < r; i++) out[p * r + i] += f[j] * mix[j * r + i];
    }
    return out;
  }
  productTable(points, n, alpha, which) {
    const k = this.rank, out = new Float64Array(n * k), distinct = [], index = [];
    for (let a = 0; a < DIM; a++) {
      const seen = new Map(), number = new Int32Array(n);
      for (let p = 0; p < n; p++) {
        const v = points[p * DIM + a];
        if (!seen.has(v)) seen.set(v, seen.size);
        number[p] = seen.get(v);
      }
      distinct.push(this.axisTable(a, Float64Array.from(seen.keys()), alpha[a], which)); index.push(number);
    }
    const r = this.mixing.map((m) => m.shape[1]);
    if (DIM === 1) {
      for (let p = 0; p < n; p++)
        for (let a = 0; a < r[0]; a++)
          for (let i = 0; i < k; i++) out[p * k + i] += distinct[0][index[0][p] * r[0] + a] * this.modes[a * k + i];
      return out;
    }
    const rows = distinct[0].length / r[0], partial = new Float64Array(rows * r[1] * k);
    for (let q = 0; q < rows; q++)
      for (let a = 0; a < r[0]; a++) {
        const v = distinct[0][q * r[0] + a];
        for (let b = 0; b < r[1] * k; b++) partial[q * r[1] * k + b] += v * this.modes[a * r[1] * k + b];
      }
    for (let p = 0; p < n; p++)
      for (let b = 0; b < r[1]; b++) {
        const v = distinct[1][index[1][p] * r[1] + b], from = (index[0][p] * r[1] + b) * k;
        for (let i = 0; i < k; i++) out[p * k + i] += v * partial[from + i];
      }
    return out;
  }
}

/* Multilinear interpolation on a grid: errors and sweeps. The axes are parameters, coordinates, time. */
function corners(axes, place) {
  let found = [[0, 1]];
  axes.forEach((axis, a) => {
    const n = axis.length, x = Math.min(axis[n - 1], Math.max(axis[0], place[a]));
    let lo = 0, hi = Math.max(1, n - 1);
    while (hi - lo > 1) { const middle = (lo + hi) >> 1; if (axis[middle] <= x) lo = middle; else hi = middle; }
    const share = n > 1 ? (x - axis[lo]) / (axis[lo + 1] - axis[lo]) : 0, next = [];
    for (const [flat, weight] of found) {
      if (share < 1) next.push([flat * n + lo, weight * (1 - share)]);
      if (share > 0) next.push([flat * n + lo + 1, weight * share]);
    }
    found = next;
  });
  return found;
}

class Table {
  constructor(entry, logarithmic) {
    const axes = entry.axes.map(decode), timed = DATA.time ? 1 : 0, before = axes.length - DIM - timed;
    this.values = decode(entry.values); this.log = logarithmic; this.label = entry.label;
    this.outer = axes.slice(0, before); this.space = axes.slice(before, before + DIM);
    this.time = timed ? axes[axes.length - 1] : Float64Array.of(0);
    this.places = this.space.reduce((n, axis) => n * axis.length, 1);
  }
  view(points, n) {
    const near = Array.from({ length: n }, (_, p) => corners(this.space, points.subarray(p * DIM, p * DIM + DIM)));
    return (t, parameters) => {
      const out = new Float64Array(n), moments = corners([this.time], [t]), length = this.time.length;
      for (const [block, share] of corners(this.outer, parameters))
        for (const [moment, part] of moments)
          for (let p = 0; p < n; p++)
            for (const [place, weight] of near[p])
              out[p] += share * part * weight * this.values[(block * this.places + place) * length + moment];
      return this.log ? out.map((v) => 10 ** v) : out;
    };
  }
}

/* One field as something that can be looked at: view(points) returns a function of time and parameters. */
class Field {
  constructor(entry) {
    this.name = entry.name;
    this.pieces = (entry.pieces || []).map((piece) => new Piece(piece));
    this.error = entry.error ? new Table(entry.error, true) : null;
    this.table = entry.table ? new Table(entry.table, false) : null;
  }
  piece(t) {
    let k = 0;
    while (k < this.pieces.length - 1 && t >= this.pieces[k + 1].start) k++;
    return k;
  }
  view(points, n, wanted) {
    if (wanted === "error") return this.error.view(points, n);
    if (this.table) return this.table.view(points, n);
    const rate = wanted === "t", which = DATA.derivatives.indexOf(wanted);
    const alpha = DATA.alphas[rate ? 0 : which], tables = [];
    return (t) => {
      const k = this.piece(t), piece = this.pieces[k], out = new Float64Array(n), rank = piece.rank;
      tables[k] = tables[k] || piece.table(points, n, alpha, rate ? 0 : which);
      const v = piece.amounts(t, rate), table = tables[k];
      for (let p = 0; p < n; p++) {
        let total = 0;
        for (let i = 0, row = p * rank; i < rank; i++) total += table[row + i] * v[i];
        out[p] = total;
      }
      return out;
    };
  }
}

/* An expression in the fields: a program for a stack of numbers, run at every point. */
class Formula {
  constructor(entry, fields) {
    this.name = entry.name; this.formula = entry.formula;
    this.needs = entry.needs.map(([name, wanted]) => [fields.find((f) => f.name === name), wanted]);
    this.pieces = this.needs.length ? this.needs[0][0].pieces : fields[0].pieces;
    this.error = this.table = null;
  }
  view(points, n) {
    const views = this.needs.map(([field, wanted]) => field.view(points, n, wanted)), stack = [];
    return (t) => {
      const values = views.map((view) => view(t)), out = new Float64Array(n);
      for (let p = 0; p < n; p++) {
        stack.length = 0;
        for (const [what, k] of this.formula) {
          if (what === "need") stack.push(values[k][p]);
          else if (what === "place") stack.push(points[p * DIM + k]);
          else if (what === "time") stack.push(t);
          else if (what === "number") stack.push(k);
          else {
            const own = stack.splice(stack.length - k, k);
            stack.push(what === "+" ? own.reduce((a, b) => a + b) : what === "*" ? own.reduce((a, b) => a * b) : Math[what](...own));
          }
        }
        out[p] = stack[0];
      }
      return out;
    };
  }
}

const FIELDS = DATA.fields.map((entry) => new Field(entry));
for (const entry of DATA.formulas || []) FIELDS.push(new Formula(entry, FIELDS.slice(0, DATA.fields.length)));

/* For anyone who wants numbers: frozen.evaluate("u", [0.5], 0.3, "x"). */
const frozen = {
  data: DATA,
  evaluate(name, place, t = 0, derivative = "", parameters = []) {
    const field = FIELDS.find((f) => f.name === name);
    return field.view(Float64Array.from(place), 1, derivative)(t, parameters)[0];
  },
};
window.frozen = frozen;
