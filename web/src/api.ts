/** Requests to the server: JSON, Arrow tables, event streams; and whether it can be reached. */
import { signal } from "@preact/signals";
import { tableFromIPC, type Table } from "@uwdata/flechette";
import type { Answer, Cluster, Edits, Graph, Info, Mode, Query, Row } from "./types";

/** False from the first request that found no server until one that did. */
export const online = signal(true);

export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** The message of any error, for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function wasAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function send(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const options: RequestInit =
    body === undefined
      ? { signal }
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (wasAborted(error)) throw error;
    lost();
    throw new RequestError("The server does not answer.", "offline", 0);
  }
  online.value = true;
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response: Response): Promise<RequestError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return new RequestError(error.message, error.code, response.status);
  } catch {
    return new RequestError(`The server answered ${response.status}.`, "unknown", response.status);
  }
}

let waiting = false;

/** Asks every second whether the server is back. */
function lost(): void {
  online.value = false;
  if (waiting) return;
  waiting = true;
  const ask = async () => {
    try {
      if ((await fetch("/api/health")).ok) {
        waiting = false;
        online.value = true;
        return;
      }
    } catch {
      // still gone
    }
    setTimeout(ask, 1000);
  };
  setTimeout(ask, 500);
}

async function json<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await send(path, body, signal)).json() as Promise<T>;
}

async function table(path: string, body?: unknown, signal?: AbortSignal): Promise<Table> {
  return tableFromIPC(await (await send(path, body, signal)).arrayBuffer());
}

const query = (values: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(values).map(([key, value]) => [key, String(value)])).toString();

export interface SearchRequest {
  query: Query;
  mode: Mode;
  k: number;
  within?: number;
  where?: Record<string, unknown>;
  budget: number;
}

export const api = {
  info: () => json<Info>("/api/info"),
  map: () => table("/api/map"),
  column: (name: string) => table(`/api/column?${query({ name })}`),
  distances: (of: Query, signal?: AbortSignal) => table("/api/distances", { query: of }, signal),
  graph: (position: number) => json<Graph>(`/api/graph?${query({ position })}`),
  parse: (body: { smiles: string } | { file: { name: string; content: string } } | { graph: unknown }) =>
    json<{ graphs: Graph[]; count: number; warnings: string[] }>("/api/parse", body),
  place: async (of: Query) =>
    (await json<{ places: ([number, number] | null)[] }>("/api/embed", { queries: [of] })).places[0],
  edits: (left: Query, right: Query, budget: number, signal?: AbortSignal) =>
    json<Edits>("/api/edits", { left, right, budget, drawings: false }, signal),
  line: (from: number, to: number, points: number) =>
    json<{ graphs: Row[] }>("/api/line", { from: { position: from }, to: { position: to }, points }),
  clusters: (count: number) => json<{ radius: number; clusters: Cluster[] }>(`/api/clusters?${query({ count })}`),
  rows: async (positions: number[], signal?: AbortSignal) =>
    (await json<{ rows: Row[] }>("/api/rows", { positions }, signal)).rows,
  rowsById: async (ids: string[]) => (await json<{ rows: Row[] }>("/api/rows", { ids })).rows,
  export: async (positions: number[], format: "csv" | "smiles" | "jsonl") =>
    (await send("/api/export", { positions, format })).blob(),
  drawingOf: async (of: Query, theme: string) => (await send("/api/drawing", { query: of, size: 220, theme })).text(),
  drawing: async (path: string) => (await send(path)).text(),
};

/** Where the picture of a graph of the collection is. */
export function drawingUrl(position: number, theme: string, state: string): string {
  return `/api/drawing?${query({ position, size: 220, theme, state: state.slice(0, 12) })}`;
}

/** A search that reports its progress; aborting it stops the work on the server. */
export async function streamSearch(
  request: SearchRequest,
  signal: AbortSignal,
  report: (event: "vectors" | "progress" | "done", answer: Answer) => void,
): Promise<void> {
  const response = await send("/api/search/stream", request, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let ended = false;
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      if (!wasAborted(error)) lost();
      throw wasAborted(error) ? error : new RequestError("The connection broke off.", "offline", 0);
    });
    if (done) break;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split("\n")
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart())
          .join("\n");
      const [event, data] = [field("event"), field("data")];
      if (event === "error") {
        const { error } = JSON.parse(data) as { error: { code: string; message: string } };
        throw new RequestError(error.message, error.code, 200);
      }
      if (event === "vectors" || event === "progress" || event === "done") report(event, JSON.parse(data) as Answer);
      ended ||= event === "done";
    }
  }
  if (!ended) {
    lost();
    throw new RequestError("The connection broke off.", "offline", 0);
  }
}
