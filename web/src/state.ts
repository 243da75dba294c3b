/** The state of the page, as signals; a component that reads one is drawn again when it changes. */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { api, messageOf, online } from "./api";
import type { Theme } from "./colors";
import { viewOnNewMap, type View } from "./map/camera";
import { numbers, Points, valuesOf, type Values } from "./map/points";
import type { Info, Query } from "./types";

export type Panel = "search" | "selection" | "explain" | "line" | "clusters";
export const PANELS: Panel[] = ["search", "selection", "explain", "line", "clusters"];

// The collection

export const info = signal<Info | null>(null);
export const points = signal<Points | null>(null);
export const problem = signal<string | null>(null);

let waiting: number | undefined;

/** Fetches the collection and its map; called again when the index has changed, and while it is empty. */
export async function open(): Promise<void> {
  clearTimeout(waiting);
  try {
    const found = await api.info();
    if (found.graphs > 0 && found.map.status !== "unavailable") {
      const next = Points.fromTable(await api.map());
      await gestureEnd();
      showMap(next);
    }
    info.value = found;
    problem.value = null;
    if (colorBy.value === "") colorBy.value = found.class_column ?? ":size";
    if (points.value?.provisional || found.map.status === "computing") setTimeout(followMap, 1500);
    if (found.graphs === 0) waiting = window.setTimeout(() => void open(), 2000);
  } catch (error) {
    problem.value = messageOf(error);
  }
}

/** Replaces the map. What is open stays open, and the view stays with the graphs that it showed. */
function showMap(next: Points): void {
  const [before, eye] = [points.peek(), view.peek()];
  batch(() => {
    if (before && eye) view.value = viewOnNewMap(eye, before, next);
    points.value = next;
  });
}

/** Resolves when no lasso and no drag is in progress: it ends on the map on which it began. */
function gestureEnd(): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (gesture.value) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/** Calls `work` each time another map replaces the one that is shown. */
export function onNewMap(work: () => void): void {
  let before: Points | null = null;
  effect(() => {
    const now = points.value;
    const replaced = before !== null && now !== null && now !== before;
    before = now;
    if (replaced) untracked(work);
  });
}

/** Waits for the final map while a provisional one is shown. */
async function followMap(): Promise<void> {
  try {
    const found = await api.info();
    info.value = found;
    if (found.map.status === "computing") setTimeout(followMap, 1500);
    else await open();
  } catch {
    setTimeout(followMap, 3000);
  }
}

// When the server is back, what could not be opened is opened, and a changed index is read again.
effect(() => {
  if (!online.value) return;
  const known = info.peek();
  if (!known) {
    if (problem.peek()) void open();
    return;
  }
  void api.info().then(
    (found) => (found.state !== known.state ? open() : undefined),
    () => undefined,
  );
});

// Light and dark

export const themeChoice = signal<"auto" | Theme>("auto");
const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(darkSystem.matches);
darkSystem.addEventListener("change", () => (systemIsDark.value = darkSystem.matches));
export const theme = computed<Theme>(() =>
  themeChoice.value === "auto" ? (systemIsDark.value ? "dark" : "light") : themeChoice.value,
);
effect(() => void (document.documentElement.dataset.theme = theme.value));

// Positions

export const panel = signal<Panel>("search");
export const panelOpen = signal(true);
export const helpOpen = signal(false);
export const view = signal<View | null>(null);
export const tool = signal<"move" | "lasso">("move");
export const hovered = signal(-1);
/** Whether a lasso or a drag is in progress on the map. */
export const gesture = signal(false);
export const pins = signal<number[]>([]);
export const selection = signal<Uint32Array>(new Uint32Array());
/** What a screen reader should say now. */
export const announcement = signal("");

export function show(which: Panel): void {
  panel.value = which;
  panelOpen.value = true;
}

export function togglePin(position: number): void {
  const there = pins.value.includes(position);
  pins.value = there ? pins.value.filter((pin) => pin !== position) : [...pins.value, position].slice(-8);
}

export function select(positions: Uint32Array): void {
  selection.value = positions;
  if (positions.length) show("selection");
  announcement.value = `${positions.length} graphs selected`;
}

// Colors and filters

/** A column, or one of what the page computes: ":size", ":density", ":crowding", ":distance". */
export const colorBy = signal("");
export const values = signal<Values | null>(null);
export const valuesProblem = signal<string | null>(null);
export const hidden = signal<ReadonlySet<string>>(new Set());
export const range = signal<[number, number] | null>(null);
/** What ":distance" is measured from. */
export const origin = signal<Query | null>(null);

let latest = 0;
let coloring = "";
effect(() => {
  const [by, all, from] = [colorBy.value, points.value, origin.value];
  if (!all || !by) return;
  const turn = ++latest;
  if (coloring && coloring !== by) {
    hidden.value = new Set();
    range.value = null;
  }
  coloring = by;
  valuesProblem.value = null;
  computeValues(by, all, from).then(
    (found) => {
      if (turn === latest) values.value = found;
    },
    (error: unknown) => {
      if (turn !== latest) return;
      values.value = null;
      valuesProblem.value = messageOf(error);
    },
  );
});

async function computeValues(by: string, all: Points, from: Query | null): Promise<Values | null> {
  if (by === ":size") return numbers(Float32Array.from(all.nodes));
  if (by === ":crowding") return all.crowding();
  if (by === ":distance") {
    if (!from) return null;
    const column = (await api.distances(from)).getChild("predicted")!;
    return numbers(Float32Array.from(column.toArray() as ArrayLike<number>));
  }
  if (by === ":density") {
    const edges = (await api.column("edges")).getChild("value")!.toArray() as ArrayLike<number>;
    const density = (n: number, m: number) => (n > 1 ? (2 * m) / (n * (n - 1)) : 0);
    return numbers(Float32Array.from(all.nodes, (n, i) => density(n, Number(edges[i]))));
  }
  if (by === info.peek()?.class_column && all.classes) return all.classes;
  return valuesOf((await api.column(by)).getChild("value")!);
}

/** Whether the legend lets a point through. */
export const allowed = computed<(point: number) => boolean>(() => {
  const [of, out, between] = [values.value, hidden.value, range.value];
  if (of?.kind === "groups" && out.size) {
    const keep = of.names.map((name) => !out.has(name));
    return (i) => (of.of[i] < 0 ? !out.has("") : keep[of.of[i]]);
  }
  if (of?.kind === "numbers" && between) {
    const [from, to] = [between[0] <= of.low ? -Infinity : between[0], between[1] >= of.high ? Infinity : between[1]];
    return (i) => of.of[i] >= from && of.of[i] <= to;
  }
  return () => true;
});

/** The filter as the server understands it, where the legend shows a column with few values; else null. */
export const where = computed<Record<string, unknown> | null>(() => {
  const column = info.value?.columns.find(({ name }) => name === colorBy.value);
  const of = values.value;
  if (!column?.values || of?.kind !== "groups" || !hidden.value.size || of.names.includes("other")) return null;
  const kept = column.values.map(({ value }) => value).filter((value) => !hidden.value.has(String(value)));
  return kept.length ? { [column.name]: kept } : null;
});
