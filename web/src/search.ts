/** The search that runs or ran: vectors at once, then verification as it streams in. */
import { effect, signal } from "@preact/signals";
import { api, messageOf, streamSearch, wasAborted } from "./api";
import { announcement, info, onNewMap, origin, points, show, where } from "./state";
import type { Answer, Mode, Query } from "./types";

export interface Search {
  query: Query;
  status: "asking" | "verifying" | "done" | "stopped" | "failed";
  /** The last answer, which vectors or verification gave. */
  answer: Answer | null;
  /** The largest upper bound seen: the end of the scale on which bounds are drawn. */
  scale: number;
  error: string | null;
}

export const search = signal<Search | null>(null);
/** Where the query lies on the map that is shown. */
export const queryPlace = signal<[number, number] | null>(null);
export const mode = signal<Mode>("complete");
export const count = signal(10);
export const within = signal(4);
export const budget = signal(10);

let running: AbortController | null = null;

/** Starts a search, and shows its panel unless the user did not ask for it. */
export async function startSearch(query: Query, reveal = true): Promise<void> {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  origin.value = query;
  if (reveal) show("search");
  const earlier = search.value;
  const map = points.value;
  queryPlace.value = null;
  let now: Search = { query, status: "asking", answer: earlier?.answer ?? null, scale: 1, error: null };
  const update = (change: Partial<Search>) => {
    if (running === controller) search.value = now = { ...now, ...change };
  };
  update({});
  const request = {
    query,
    mode: mode.value,
    k: count.value,
    budget: Math.min(budget.value, info.value?.limits.seconds ?? budget.value),
    ...(mode.value === "within" ? { within: within.value } : {}),
    ...(where.value ? { where: where.value } : {}),
  };
  try {
    await streamSearch(request, controller.signal, (event, answer) => {
      if (running === controller && points.value === map) queryPlace.value = answer.query.place;
      const uppers = answer.matches.map((match) => match.upper ?? 0);
      update({
        answer,
        scale: Math.max(now.scale, ...uppers),
        status: event === "done" ? "done" : "verifying",
      });
      if (event === "done") announcement.value = summary(answer);
    });
  } catch (error) {
    if (wasAborted(error)) return;
    update({ status: "failed", error: messageOf(error), answer: now.status === "verifying" ? now.answer : null });
    announcement.value = messageOf(error);
  }
}

/** Ends the running verification; what is proven so far stays. */
export function stopSearch(): void {
  running?.abort();
  running = null;
  if (search.value) search.value = { ...search.value, status: "stopped" };
}

export function clearSearch(): void {
  running?.abort();
  running = null;
  search.value = null;
  queryPlace.value = null;
  origin.value = null;
}

onNewMap(() => {
  const query = search.value?.query;
  queryPlace.value = null;
  if (!query) return;
  void api.place(query).then(
    (place) => {
      if (search.value?.query === query) queryPlace.value = place;
    },
    () => undefined, // it is not shown
  );
});

export const busy = () => search.value?.status === "asking" || search.value?.status === "verifying";

function summary({ matches, certificate }: Answer): string {
  const found = `${matches.length} ${matches.length === 1 ? "match" : "matches"}`;
  return certificate ? `${found}, ${certificate.text}` : `${found} by vectors`;
}

// Other settings, other answer. The panel stays: the filter of a link may arrive after its edits are shown.
let settings = "";
effect(() => {
  const now = JSON.stringify([mode.value, count.value, mode.value === "within" && within.value, where.value]);
  const changed = settings !== "" && settings !== now;
  settings = now;
  const current = search.peek();
  if (changed && current) queueMicrotask(() => void startSearch(current.query, false));
});
