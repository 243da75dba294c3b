/** Ids and properties of graphs by position, fetched in batches and kept. */
import { effect, signal } from "@preact/signals";
import { api } from "./api";
import { info } from "./state";
import type { Row } from "./types";

const known = new Map<number, Row>();
const wanted = new Set<number>();
const version = signal(0);
const BATCH = 100;
const KEPT = 20000;
let timer: number | undefined;
let state: string | undefined;

effect(() => {
  const now = info.value?.state;
  if (state !== undefined && now !== state) known.clear();
  state = now;
});

/** The row of a position; undefined now, and again a moment later with the answer. */
export function rowOf(position: number): Row | undefined {
  version.value; // subscribe
  const row = known.get(position);
  if (!row && position >= 0) {
    wanted.add(position);
    timer ??= window.setTimeout(fetchWanted, 15);
  }
  return row;
}

export function keep(rows: Row[]): void {
  if (known.size > KEPT) known.clear();
  for (const row of rows) known.set(row.position, row);
  version.value++;
}

/** The rows of many positions, in their order. */
export async function rowsOf(positions: number[], signal?: AbortSignal): Promise<Row[]> {
  const missing = positions.filter((position) => !known.has(position));
  for (let i = 0; i < missing.length; i += BATCH) keep(await api.rows(missing.slice(i, i + BATCH), signal));
  return positions.map((position) => known.get(position)!);
}

async function fetchWanted(): Promise<void> {
  timer = undefined;
  const positions = [...wanted].slice(0, BATCH);
  wanted.clear();
  try {
    keep(await api.rows(positions));
  } catch {
    // requested again when it is next shown
  }
}

/** A name to show: that of the metadata if there is one, else the id. */
export function nameOf(row: { id: string; metadata: Record<string, unknown> }): string {
  const name = row.metadata.name ?? row.metadata.title;
  return typeof name === "string" && name ? name : row.id;
}
