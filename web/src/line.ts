/** The graphs along the line between two points of the map (the interpolation of the paper). */
import { signal } from "@preact/signals";
import { api, messageOf } from "./api";
import { lookAtBox } from "./map/stage";
import { keep } from "./rows";
import { announcement, onNewMap, show } from "./state";
import type { Row } from "./types";

export const POINTS = 12;

export interface Line {
  ends: [number, number] | null;
  status: "none" | "asking" | "ready" | "failed";
  graphs: Row[];
  error: string | null;
}

export const line = signal<Line>({ ends: null, status: "none", graphs: [], error: null });

export async function drawLine(from: number, to: number): Promise<void> {
  show("line");
  line.value = { ends: [from, to], status: "asking", graphs: [], error: null };
  const graphs = await find(from, to);
  if (!graphs) return;
  const [xs, ys] = [graphs.map(({ x }) => x), graphs.map(({ y }) => y)];
  lookAtBox({ left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) });
  announcement.value = `${graphs.length} graphs along the line`;
}

/** Fetches and shows the graphs along the line; null if that failed or another line was requested meanwhile. */
async function find(from: number, to: number): Promise<Row[] | null> {
  const ends: [number, number] = [from, to];
  const current = () => line.value.ends?.[0] === from && line.value.ends[1] === to;
  try {
    const { graphs } = await api.line(from, to, POINTS);
    if (!current()) return null;
    keep(graphs);
    line.value = { ends, status: "ready", graphs, error: null };
    return graphs;
  } catch (error) {
    if (current()) line.value = { ends, status: "failed", graphs: [], error: messageOf(error) };
    return null;
  }
}

onNewMap(() => {
  if (line.value.ends) void find(...line.value.ends);
});

export function clearLine(): void {
  line.value = { ends: null, status: "none", graphs: [], error: null };
}
