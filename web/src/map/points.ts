/** The points of the map: coordinates from the Arrow table, a grid to find them by place, groups of values. */
import type { Column, Table } from "@uwdata/flechette";

export interface Box {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** One value per graph: a number, or one of a few names. */
export type Values =
  | { kind: "numbers"; of: Float32Array | Float64Array; min: number; max: number; low: number; high: number }
  | { kind: "groups"; of: Int32Array; names: string[]; counts: number[] };

export class Points {
  readonly count: number;
  readonly box: Box;
  private readonly columns: number;
  private readonly rows: number;
  private readonly start: Uint32Array;
  private readonly members: Uint32Array;

  constructor(
    readonly x: Float32Array,
    readonly y: Float32Array,
    readonly nodes: Int32Array,
    readonly classes: Values | null,
    readonly provisional: boolean,
  ) {
    this.count = x.length;
    this.box = extent(x, y);
    // A uniform grid of about two points per cell, filled by counting sort.
    const side = Math.max(1, Math.ceil(Math.sqrt(this.count / 2)));
    this.columns = this.rows = side;
    this.start = new Uint32Array(side * side + 1);
    this.members = new Uint32Array(this.count);
    const cells = new Uint32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      cells[i] = this.cell(x[i], y[i]);
      this.start[cells[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice(0, -1);
    for (let i = 0; i < this.count; i++) this.members[next[cells[i]]++] = i;
  }

  static fromTable(table: Table): Points {
    const x = Float32Array.from(table.getChild("x")!.toArray() as ArrayLike<number>);
    const y = Float32Array.from(table.getChild("y")!.toArray() as ArrayLike<number>);
    const nodes = Int32Array.from(table.getChild("nodes")!.toArray() as ArrayLike<number>);
    const classes = table.getChild("class");
    const status = table.schema.metadata?.get("status");
    return new Points(x, y, nodes, classes ? valuesOf(classes) : null, status === "provisional");
  }

  private column(x: number): number {
    const share = (x - this.box.left) / (this.box.right - this.box.left || 1);
    return Math.min(this.columns - 1, Math.max(0, Math.floor(share * this.columns)));
  }

  private row(y: number): number {
    const share = (y - this.box.bottom) / (this.box.top - this.box.bottom || 1);
    return Math.min(this.rows - 1, Math.max(0, Math.floor(share * this.rows)));
  }

  private cell(x: number, y: number): number {
    return this.row(y) * this.columns + this.column(x);
  }

  /** Calls `found` for every point whose cell touches the box; some may lie outside. */
  near(box: Box, found: (point: number) => void): void {
    const [first, last] = [this.column(box.left), this.column(box.right)];
    for (let row = this.row(box.bottom); row <= this.row(box.top); row++) {
      const end = this.start[row * this.columns + last + 1];
      for (let m = this.start[row * this.columns + first]; m < end; m++) found(this.members[m]);
    }
  }

  /** The nearest point within a distance that `allowed` lets through, or -1. */
  nearest(x: number, y: number, within: number, allowed: (point: number) => boolean): number {
    let best = -1;
    let least = within * within;
    this.near({ left: x - within, right: x + within, bottom: y - within, top: y + within }, (i) => {
      const gap = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (gap <= least && allowed(i)) [best, least] = [i, gap];
    });
    return best;
  }

  /** The next point from `from` in a direction: near, and not far off the direction; -1 if there is none. */
  toward(from: number, dx: number, dy: number, allowed: (point: number) => boolean): number {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.count; i++) {
      const [gx, gy] = [this.x[i] - this.x[from], this.y[i] - this.y[from]];
      const along = gx * dx + gy * dy;
      const aside = Math.abs(gx * dy - gy * dx);
      if (i === from || along <= 0 || aside > along || !allowed(i)) continue;
      const cost = along + 2 * aside;
      if (cost < least) [best, least] = [i, cost];
    }
    return best;
  }

  /** The points inside a polygon given as x, y, x, y, … (even-odd rule). */
  inside(polygon: number[], allowed: (point: number) => boolean): Uint32Array {
    const xs = polygon.filter((_, i) => i % 2 === 0);
    const ys = polygon.filter((_, i) => i % 2 === 1);
    const found: number[] = [];
    this.near(extent(xs, ys), (i) => {
      const [x, y] = [this.x[i], this.y[i]];
      let inside = false;
      for (let a = 0, b = xs.length - 1; a < xs.length; b = a++) {
        if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) inside = !inside;
      }
      if (inside && allowed(i)) found.push(i);
    });
    return Uint32Array.from(found).sort();
  }

  /** How many points lie around each one, for coloring: counts in a blurred raster, as a logarithm. */
  crowding(): Values {
    const side = 256;
    const raster = new Float32Array(side * side);
    const at = (i: number) => {
      const column = Math.floor(((this.x[i] - this.box.left) / (this.box.right - this.box.left || 1)) * (side - 1));
      const row = Math.floor(((this.y[i] - this.box.bottom) / (this.box.top - this.box.bottom || 1)) * (side - 1));
      return row * side + column;
    };
    for (let i = 0; i < this.count; i++) raster[at(i)]++;
    const blurred = blur(blur(blur(raster, side, 1), side, side), side, 1);
    const values = new Float32Array(this.count);
    for (let i = 0; i < this.count; i++) values[i] = Math.log1p(blurred[at(i)]);
    return numbers(values);
  }
}

function extent(xs: ArrayLike<number>, ys: ArrayLike<number>): Box {
  const box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let i = 0; i < xs.length; i++) {
    box.left = Math.min(box.left, xs[i]);
    box.right = Math.max(box.right, xs[i]);
    box.bottom = Math.min(box.bottom, ys[i]);
    box.top = Math.max(box.top, ys[i]);
  }
  return xs.length ? box : { left: -1, right: 1, bottom: -1, top: 1 };
}

/** Running means over 9 cells along one axis of a square raster. */
function blur(raster: Float32Array, side: number, step: number): Float32Array {
  const out = new Float32Array(raster.length);
  const across = step === 1 ? side : 1;
  for (let line = 0; line < side; line++) {
    for (let i = 0; i < side; i++) {
      let sum = 0;
      for (let d = -4; d <= 4; d++) {
        const j = i + d;
        if (j >= 0 && j < side) sum += raster[line * across + j * step];
      }
      out[line * across + i * step] = sum / 9;
    }
  }
  return out;
}

const SAMPLE = 5000;

/** Numbers with their range, and the range that colors span: outliers (1% on each side) share the color of its ends. */
export function numbers(of: Float32Array | Float64Array): Values {
  let [min, max] = [Infinity, -Infinity];
  for (const value of of) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min > max) return { kind: "numbers", of, min: 0, max: 0, low: 0, high: 0 };
  const stride = Math.ceil(of.length / SAMPLE);
  const sample = of.filter((value, i) => i % stride === 0 && !Number.isNaN(value)).sort();
  const at = (share: number) => sample[Math.round(share * (sample.length - 1))] ?? min;
  const [low, high] = at(0.01) < at(0.99) ? [at(0.01), at(0.99)] : [min, max];
  return { kind: "numbers", of, min, max, low, high };
}

const GROUPS = 12;

/** A column as numbers (missing: NaN), or as its most frequent names and "other" (missing: -1). */
export function valuesOf(column: Column<unknown>): Values {
  const values = column.toArray() as ArrayLike<unknown>;
  if (values instanceof Float32Array || values instanceof Float64Array) return numbers(values);
  const first = firstValue(values);
  if (typeof first === "number" || typeof first === "bigint") {
    return numbers(Float64Array.from({ length: values.length }, (_, i) => number(values[i])));
  }
  const counts = new Map<string, number>();
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null) counts.set(String(values[i]), (counts.get(String(values[i])) ?? 0) + 1);
  }
  return groups(values, counts);
}

/** Names in their natural order, at most twelve; the rarer ones share "other". */
function groups(values: ArrayLike<unknown>, counts: Map<string, number>): Values {
  const byCount = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
  const fits = byCount.length <= GROUPS;
  const names = byCount.slice(0, fits ? GROUPS : GROUPS - 1);
  names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const code = new Map(names.map((name, i) => [name, i]));
  if (!fits) names.push("other");
  const of = new Int32Array(values.length);
  const sizes = names.map(() => 0);
  for (let i = 0; i < values.length; i++) {
    of[i] = values[i] == null ? -1 : (code.get(String(values[i])) ?? names.length - 1);
    if (of[i] >= 0) sizes[of[i]]++;
  }
  return { kind: "groups", of, names, counts: sizes };
}

function firstValue(values: ArrayLike<unknown>): unknown {
  for (let i = 0; i < values.length; i++) if (values[i] != null) return values[i];
  return null;
}

function number(value: unknown): number {
  return value == null ? NaN : Number(value);
}
