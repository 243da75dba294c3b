/** From what people type, drop or draw to a query. */
import { effect, signal } from "@preact/signals";
import { api, messageOf, online, RequestError } from "./api";
import { nameOf, rowOf } from "./rows";
import { startSearch } from "./search";
import { announcement, info, show } from "./state";
import type { Graph, PlainGraph, Query } from "./types";

/** What went wrong with the last input; shown below the field. */
export const inputProblem = signal<string | null>(null);
export const inputText = signal("");
/** The graphs of a file with several, to choose from. */
export const choices = signal<{ name: string; graphs: Graph[]; count: number } | null>(null);
export const reading = signal(false);

/** What a query is called. */
export function queryName(query: Query): string {
  if ("id" in query) return query.id;
  if ("smiles" in query) return query.smiles;
  if ("position" in query) {
    const row = rowOf(query.position);
    return row ? nameOf(row) : `graph ${query.position + 1}`;
  }
  return "graph" in query ? (query.graph.id ?? "your graph") : query.file.name;
}

export function plain(graph: Graph): PlainGraph {
  const labels = graph.node_labels ? { node_labels: graph.node_labels } : {};
  const bonds = graph.edge_labels ? { edge_labels: graph.edge_labels } : {};
  return { num_nodes: graph.num_nodes, edges: graph.edges, ...labels, ...bonds };
}

/** A query for a graph that the server has read. */
function queryOf(graph: Graph): Query {
  const smiles = graph.metadata.smiles;
  return info.value?.molecules && typeof smiles === "string" ? { smiles } : { graph: plain(graph) };
}

/** JSON of the form that queries have; null if it is another form, which the server may know. */
function asPlainGraph(text: string): PlainGraph | null {
  try {
    const found = JSON.parse(text) as Partial<PlainGraph>;
    return Array.isArray(found.edges) && typeof found.num_nodes === "number" ? (found as PlainGraph) : null;
  } catch (error) {
    throw new Error(`This is no JSON: ${messageOf(error)}`);
  }
}

/** SMILES, a graph as JSON, or an id. */
async function queryFromText(text: string): Promise<Query> {
  if (text.startsWith("{") || text.startsWith("[")) {
    const own = asPlainGraph(text);
    const { graphs } = await api.parse(own ? { graph: own } : { file: { name: "query.json", content: text } });
    return { graph: plain(graphs[0]) };
  }
  const isId = async () => {
    try {
      return (await api.rowsById([text])).length > 0;
    } catch (error) {
      if (error instanceof RequestError && error.status >= 400 && error.status < 500) return false;
      throw error;
    }
  };
  if (!info.value?.molecules) {
    if (await isId()) return { id: text };
    throw new Error(`No graph has the id “${text}”. Paste a graph as JSON, drop a file, or draw one.`);
  }
  try {
    await api.parse({ smiles: text });
    return { smiles: text };
  } catch (error) {
    if (error instanceof RequestError && error.status === 422 && (await isId())) return { id: text };
    throw error;
  }
}

let postponed: (() => Promise<void>) | null = null;

/** Runs the request of the input; without a server it waits until there is one again. */
async function attempt(work: () => Promise<void>): Promise<void> {
  inputProblem.value = null;
  postponed = null;
  reading.value = true;
  try {
    await work();
  } catch (error) {
    if (error instanceof RequestError && error.code === "offline") {
      postponed = work;
      return;
    }
    inputProblem.value = messageOf(error);
    announcement.value = messageOf(error);
  } finally {
    reading.value = false;
  }
}

effect(() => {
  if (online.value && postponed) void attempt(postponed);
});

export function searchText(text: string): Promise<void> {
  return attempt(async () => {
    choices.value = null;
    const trimmed = text.trim();
    if (!trimmed) throw new Error("Type or paste something to search for.");
    await Promise.resolve(startSearch(await queryFromText(trimmed)));
  });
}

export function searchFile(file: File): Promise<void> {
  show("search");
  return attempt(async () => {
    const most = info.value?.limits.body_bytes ?? 1e6;
    if (file.size > most)
      throw new Error(`${file.name} is larger than the ${Math.round(most / 1000)} KB a query may have.`);
    const content = await file.text();
    const own = file.name.endsWith(".json") ? asPlainGraph(content) : null;
    const { graphs, count } = await api.parse(own ? { graph: own } : { file: { name: file.name, content } });
    choices.value = null;
    if (!graphs.length) throw new Error(`${file.name} holds no graph.`);
    if (graphs.length > 1) choices.value = { name: file.name, graphs, count };
    else searchGraph(graphs[0]);
  });
}

export function searchGraph(graph: Graph): void {
  choices.value = null;
  const query = queryOf(graph);
  inputText.value = "smiles" in query ? query.smiles : "";
  void startSearch(query);
}

/** A graph of the collection, as the query. */
export function searchPosition(position: number): void {
  const row = rowOf(position);
  inputText.value = row?.id ?? "";
  inputProblem.value = null;
  void startSearch(row ? { id: row.id } : { position });
}
