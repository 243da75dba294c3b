/** The edits between two graphs, and which step of them is shown. */
import { effect, signal } from "@preact/signals";
import { api, messageOf, wasAborted } from "./api";
import { announcement, hovered, show } from "./state";
import type { Edits, Operation, Query } from "./types";

const VERBS: Record<string, string> = { delete: "Remove", insert: "Add", relabel: "Relabel" };

/** An edit in words, its nodes by label and number: "Remove edge C4–O5, single". */
export function operationText({ operation, nodes, old, new: now, cost }: Operation, edits: Edits): string {
  const [verb, what] = operation.split(" ");
  const named = (name: number) => {
    const node = edits.nodes.find((entry) => entry.name === name);
    return `${node?.old ?? node?.new ?? ""}${name + 1}`;
  };
  const label = verb === "relabel" ? ` ${old ?? "none"} → ${now ?? "none"}` : "";
  const kind = what === "edge" && verb !== "relabel" ? (old ?? now) : null;
  const price = cost === 1 ? "" : `, cost ${cost}`;
  return `${VERBS[verb]} ${what} ${nodes.map(named).join("–")}${label}${kind === null ? "" : `, ${kind}`}${price}`;
}

export interface Explanation {
  left: Query;
  right: Query;
  status: "asking" | "ready" | "failed";
  edits: Edits | null;
  error: string | null;
}

export const explanation = signal<Explanation | null>(null);
export const step = signal(0);
export const playing = signal(false);
/** Seconds that the server may spend on a proof; more for "Try longer". */
const PATIENCE = [3, 20];

let running: AbortController | null = null;

export async function explain(left: Query, right: Query, effort = 0, at = 0): Promise<void> {
  running?.abort();
  const controller = (running = new AbortController());
  show("explain");
  hovered.value = -1;
  playing.value = false;
  const base = { left, right, error: null };
  explanation.value = { ...base, status: "asking", edits: effort ? (explanation.value?.edits ?? null) : null };
  try {
    const edits = await api.edits(left, right, PATIENCE[effort], controller.signal);
    step.value = Math.min(at, edits.operations.length);
    explanation.value = { ...base, status: "ready", edits };
    const sure = edits.proven ? `${edits.distance} edits, proven` : `between ${edits.lower} and ${edits.upper} edits`;
    announcement.value = `${sure}: ${edits.changes}`;
  } catch (error) {
    if (!wasAborted(error)) explanation.value = { ...base, status: "failed", edits: null, error: messageOf(error) };
  }
}

export function clearExplanation(): void {
  running?.abort();
  playing.value = false;
  explanation.value = null;
}

export const steps = () => explanation.value?.edits?.operations.length ?? 0;

export function go(to: number): void {
  step.value = Math.max(0, Math.min(steps(), to));
}

/** Plays on from here, from the start if it is at the end. */
export function play(): void {
  if (step.value >= steps()) step.value = 0;
  playing.value = true;
}

const PACE = 900; // milliseconds per step
effect(() => {
  if (!playing.value) return;
  const timer = setInterval(() => {
    if (step.peek() >= steps()) playing.value = false;
    else step.value = step.peek() + 1;
  }, PACE);
  return () => clearInterval(timer);
});
effect(() => {
  const now = step.value;
  const edits = explanation.peek()?.edits;
  const done = edits?.operations[now - 1];
  if (edits && done) announcement.value = `step ${now}: ${operationText(done, edits)}`;
});
