/** The state of the page in its address, so that a link shows the same. */
import { batch, effect } from "@preact/signals";
import { api } from "./api";
import { explain, explanation, step } from "./explain";
import { drawLine, line } from "./line";
import { keep, rowOf } from "./rows";
import { count, mode, search, startSearch, within } from "./search";
import {
  colorBy, hidden, info, PANELS, panel, pins, points, range, selection, themeChoice, view, type Panel,
} from "./state"; // prettier-ignore
import type { Mode, PlainGraph, Query } from "./types";

const LARGEST_SELECTION = 200; // ids that a link may carry

/** "id:17", "smiles:CCO" or "graph:{…}". */
export function queryText(query: Query): string | null {
  if ("id" in query) return `id:${query.id}`;
  if ("smiles" in query) return `smiles:${query.smiles}`;
  if ("graph" in query) return `graph:${JSON.stringify(query.graph)}`;
  if ("position" in query) {
    const row = rowOf(query.position);
    return row ? `id:${row.id}` : null;
  }
  return null;
}

export function queryFrom(text: string): Query | null {
  const [, kind, rest] = /^(id|smiles|graph):([\s\S]*)$/.exec(text) ?? [];
  if (kind === "id") return { id: rest };
  if (kind === "smiles") return { smiles: rest };
  try {
    return kind === "graph" ? { graph: JSON.parse(rest) as PlainGraph } : null;
  } catch {
    return null;
  }
}

function write(): string {
  const out = new URLSearchParams();
  const put = (key: string, value: string | null | undefined) => value && out.set(key, value);
  const ids = (positions: Iterable<number>) => JSON.stringify([...positions].map((position) => rowOf(position)?.id));
  if (panel.value !== "search") put("panel", panel.value);
  if (themeChoice.value !== "auto") put("theme", themeChoice.value);
  if (colorBy.value !== (info.value?.class_column ?? ":size")) put("color", colorBy.value);
  if (hidden.value.size) put("hide", JSON.stringify([...hidden.value]));
  if (range.value) put("range", range.value.join());
  const eye = view.value;
  if (eye) put("view", [eye.x, eye.y, eye.zoom].map((value) => Number(value.toPrecision(6))).join());
  if (pins.value.length) put("pins", ids(pins.value));
  if (selection.value.length && selection.value.length <= LARGEST_SELECTION) put("selected", ids(selection.value));
  if (search.value) {
    put("q", queryText(search.value.query));
    if (mode.value !== "complete") put("mode", mode.value);
    if (count.value !== 10) put("k", String(count.value));
    if (mode.value === "within") put("within", String(within.value));
  }
  if (explanation.value) {
    put("left", queryText(explanation.value.left));
    put("right", queryText(explanation.value.right));
    if (step.value) put("step", String(step.value));
  }
  if (line.value.ends) put("line", ids(line.value.ends));
  return out.toString();
}

const json = (text: string | null): unknown => {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
};
const strings = (text: string | null): string[] => {
  const found = json(text);
  return Array.isArray(found) ? found.filter((entry): entry is string => typeof entry === "string") : [];
};
const floats = (text: string | null, length: number): number[] | null => {
  const found = (text ?? "").split(",").map(Number);
  return text && found.length === length && found.every(Number.isFinite) ? found : null;
};

/** What can be set before the map is there. */
function readLooks(from: URLSearchParams): void {
  const chosen = from.get("theme");
  if (chosen === "light" || chosen === "dark") themeChoice.value = chosen;
  if (PANELS.includes(from.get("panel") as Panel)) panel.value = from.get("panel") as Panel;
  if (from.get("color")) colorBy.value = from.get("color")!;
  hidden.value = new Set(strings(from.get("hide")));
  const between = floats(from.get("range"), 2);
  if (between) range.value = [between[0], between[1]];
  const eye = floats(from.get("view"), 3);
  if (eye) view.value = { x: eye[0], y: eye[1], zoom: Math.min(2000, Math.max(0.5, eye[2])) };
  if (["vectors", "verified", "complete", "within"].includes(from.get("mode") ?? "")) {
    mode.value = from.get("mode") as Mode;
  }
  const [k, edits] = [Number(from.get("k")), Number(from.get("within"))];
  if (k >= 1 && k <= 100) count.value = Math.round(k);
  if (edits >= 0 && from.get("within")) within.value = edits;
}

/** The part of the state that needs requests to the server. */
async function readRest(from: URLSearchParams): Promise<void> {
  const opened = panel.value;
  const positions = async (ids: string[]) => {
    if (!ids.length) return [];
    const rows = await api.rowsById(ids);
    keep(rows);
    return rows.map(({ position }) => position);
  };
  try {
    pins.value = await positions(strings(from.get("pins")));
    selection.value = Uint32Array.from(await positions(strings(from.get("selected")))).sort();
    const ends = await positions(strings(from.get("line")));
    if (ends.length === 2) {
      const eye = view.value;
      void drawLine(ends[0], ends[1]).then(() => eye && (view.value = eye));
    }
  } catch {
    // ids that the index no longer has: the rest is shown
  }
  const asked = queryFrom(from.get("q") ?? "");
  if (asked) void startSearch(asked);
  const [left, right] = [queryFrom(from.get("left") ?? ""), queryFrom(from.get("right") ?? "")];
  if (left && right) void explain(left, right, 0, Number(from.get("step")) || 0);
  panel.value = opened;
}

const hash = () => new URLSearchParams(location.hash.slice(1));

/** Reads the address now and, once the map is there, the rest of it; from then on writes it. */
export function followAddress(): void {
  batch(() => readLooks(hash()));
  let written = location.hash.slice(1);
  let timer: number | undefined;
  let ready = false;
  effect(() => {
    if (ready || !points.value || !info.value) return;
    ready = true;
    void readRest(hash()).then(() =>
      effect(() => {
        const now = write();
        clearTimeout(timer);
        timer = window.setTimeout(() => {
          if (now === written) return;
          written = now;
          history.replaceState(null, "", now ? `#${now}` : location.pathname);
        }, 200);
      }),
    );
  });
  window.addEventListener("hashchange", () => {
    if (location.hash.slice(1) !== written) location.reload();
  });
}
