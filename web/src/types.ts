/** Answers of the server; see docs/web.md. */

export type Label = string | number | boolean | null;

export interface Graph {
  id: string;
  position: number | null;
  num_nodes: number;
  num_edges: number;
  edges: [number, number][];
  node_labels: Label[] | null;
  edge_labels: Label[] | null;
  metadata: Record<string, Label>;
  /** Where to draw the nodes, y up; null for graphs too large to draw. */
  coordinates: [number, number][] | null;
  /** Bond orders and charges to draw; only of molecules. */
  orders?: number[] | null;
  charges?: number[] | null;
}

export type PlainGraph = Pick<Graph, "num_nodes" | "edges"> & {
  node_labels?: Label[];
  edge_labels?: Label[];
  id?: string;
};

export type Query =
  | { id: string }
  | { position: number }
  | { smiles: string }
  | { graph: PlainGraph }
  | { file: { name: string; content: string }; index: number };

export interface Row {
  position: number;
  id: string;
  num_nodes: number;
  num_edges: number;
  metadata: Record<string, Label>;
  x: number;
  y: number;
}

export interface Column {
  name: string;
  type: "integer" | "number" | "text" | "boolean";
  missing: number;
  distinct: number | null;
  values: { value: Label; count: number }[] | null;
  min: number | null;
  max: number | null;
}

export interface Info {
  name: string;
  graphs: number;
  state: string;
  molecules: boolean;
  writable: boolean;
  node_labels: { value: Label; count: number }[] | null;
  edge_labels: { value: Label; count: number }[] | null;
  class_column: string | null;
  columns: Column[];
  map: { status: "ready" | "computing" | "unavailable"; progress: number; method: string };
  limits: Record<string, number>;
  version: string;
}

export interface Match {
  rank: number;
  id: string;
  position: number;
  distance: number | null;
  lower: number | null;
  upper: number | null;
  proven: boolean;
  normalized: number | null;
  predicted: number;
  num_nodes: number;
  num_edges: number;
  metadata: Record<string, Label>;
}

export interface Certificate {
  proven: boolean;
  ordered: boolean;
  scope: "shortlist" | "database";
  graphs: number;
  found: number;
  removed: Record<string, number>;
  undecided: string[];
  undecided_count: number;
  seconds: number;
  within: number | null;
  text: string;
}

export type Mode = "vectors" | "verified" | "complete" | "within";

export interface Answer {
  mode: Mode;
  seconds: number;
  query: { graph: Graph; place: [number, number] | null };
  warnings: string[];
  matches: Match[];
  certificate: Certificate | null;
}

export type Change = "kept" | "relabeled" | "removed" | "added";

export interface Operation {
  operation: string;
  nodes: number[];
  old: Label;
  new: Label;
  cost: number;
  text: string;
}

export interface EditedNode {
  name: number;
  left: number | null;
  right: number | null;
  old: Label;
  new: Label;
  from: [number, number];
  to: [number, number];
  change: Change;
}

export interface EditedEdge {
  nodes: [number, number];
  old: Label;
  new: Label;
  change: Change;
}

export interface Edits {
  left: Graph;
  right: Graph;
  distance: number;
  lower: number;
  upper: number;
  proven: boolean;
  normalized: number;
  mapping: number[];
  changes: string;
  operations: Operation[];
  nodes: EditedNode[];
  edges: EditedEdge[];
}

export interface Cluster {
  x: number;
  y: number;
  radius: number;
  count: number;
  members: Row[];
}
