/** What is to be drawn of a graph, apart from how: nodes and edges with places, letters and marks. */
import type { Change, Edits, Graph, Label } from "../types";

export interface SceneNode {
  key: number;
  x: number;
  y: number;
  label: Label;
  charge: number;
  mark: Change;
}

export interface SceneEdge {
  key: string;
  from: number;
  to: number;
  order: number;
  label: Label;
  mark: Change;
}

export interface Scene {
  nodes: Map<number, SceneNode>;
  edges: SceneEdge[];
}

const ORDERS: Record<string, number> = { single: 1, double: 2, triple: 3, aromatic: 1.5 };

function orderOf(label: Label, drawn?: number): number {
  return drawn ?? ORDERS[String(label).toLowerCase()] ?? 1;
}

const pair = (u: number, v: number): string => (u < v ? `${u}-${v}` : `${v}-${u}`);

export function sceneOf(graph: Graph): Scene {
  const places = graph.coordinates ?? [];
  const unit = lengthOf(graph.edges.map(([u, v]) => [places[u], places[v]]));
  const nodes = new Map(
    places.map(([x, y], i) => {
      const label = graph.node_labels?.[i] ?? null;
      return [i, { key: i, x: x / unit, y: -y / unit, label, charge: graph.charges?.[i] ?? 0, mark: "kept" }];
    }),
  ) as Map<number, SceneNode>;
  const edges = graph.edges.map(([u, v], e): SceneEdge => {
    const label = graph.edge_labels?.[e] ?? null;
    return { key: pair(u, v), from: u, to: v, order: orderOf(label, graph.orders?.[e]), label, mark: "kept" };
  });
  return { nodes, edges: places.length ? edges : [] };
}

/** The median length of edges, by which drawings are scaled so that an edge is 1 long. */
function lengthOf(edges: [number, number][][]): number {
  const lengths = edges
    .filter(([a, b]) => a && b)
    .map(([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]))
    .sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || 1;
}

const NEAR = 0.6; // of an edge: nodes nearer than this look like one
const FAR = 0.999; // of the way: next to the right graph, but not at it yet

/** The two graphs of an edit path with their marks, and the graph after each step, in one frame. */
export class EditScenes {
  private readonly unit: number;
  private readonly orders: [Map<string, number>, Map<string, number>];

  constructor(private readonly edits: Edits) {
    const places = new Map(edits.nodes.map((node) => [node.name, node]));
    const kept = edits.edges.map(({ nodes: [u, v] }) => [places.get(u)!.from, places.get(v)!.from]);
    this.unit = lengthOf(kept);
    const names = [new Map<number, number>(), new Map<number, number>()];
    for (const { name, left, right } of edits.nodes) {
      if (left !== null) names[0].set(left, name);
      if (right !== null) names[1].set(right, name);
    }
    this.orders = [edits.left, edits.right].map(
      ({ edges, orders }, side) =>
        new Map(edges.map(([u, v], e) => [pair(names[side].get(u)!, names[side].get(v)!), orders?.[e] ?? NaN])),
    ) as [Map<string, number>, Map<string, number>];
  }

  get steps(): number {
    return this.edits.operations.length;
  }

  side(which: "left" | "right"): Scene {
    const left = which === "left";
    const missing: Change = left ? "added" : "removed";
    const nodes = this.edits.nodes
      .filter(({ change }) => change !== missing)
      .map((node) => this.node(node.name, left ? node.old : node.new, left ? 0 : 1, node.change));
    const edges = this.edits.edges
      .filter(({ change }) => change !== missing)
      .map(({ nodes: ends, old, new: now, change }) => this.edge(ends, left ? old : now, left ? 0 : 1, change));
    return { nodes: new Map(nodes.map((node) => [node.key, node])), edges };
  }

  /** The graph after `step` operations; what the last one changed is marked, and what it removes is still there. */
  after(step: number): Scene {
    const share = this.apart(this.steps ? step / this.steps : 0);
    const nodes = new Map<number, SceneNode>();
    for (const node of this.edits.nodes) {
      if (node.left !== null) nodes.set(node.name, this.node(node.name, node.old, share, "kept"));
    }
    const edges = new Map<string, SceneEdge>();
    for (const { nodes: ends, old, change } of this.edits.edges) {
      if (change !== "added") edges.set(pair(...ends), this.edge(ends, old, 0, "kept"));
    }
    this.edits.operations.slice(0, step).forEach(({ operation, nodes: ends, new: now }, i) => {
      const last = i === step - 1;
      const [verb, what] = operation.split(" ");
      const mark: Change = !last ? "kept" : verb === "delete" ? "removed" : verb === "insert" ? "added" : "relabeled";
      if (what === "node") {
        if (verb === "delete" && !last) nodes.delete(ends[0]);
        else if (verb === "delete") nodes.set(ends[0], { ...nodes.get(ends[0])!, mark });
        else nodes.set(ends[0], this.node(ends[0], now, share, mark));
      } else {
        const key = pair(ends[0], ends[1]);
        if (verb === "delete" && !last) edges.delete(key);
        else if (verb === "delete") edges.set(key, { ...edges.get(key)!, mark });
        else edges.set(key, this.edge([ends[0], ends[1]], now, 1, mark));
      }
    });
    return { nodes, edges: [...edges.values()] };
  }

  /** The share of the way from left to right, or the nearer end where nodes would lie on each other on the way. */
  private apart(share: number): number {
    if (share === 0 || share === 1) return share;
    const places = this.edits.nodes.map(({ from, to }) => [0, 1].map((k) => from[k] + (to[k] - from[k]) * share));
    const close = places.some((a, i) =>
      places.some((b, j) => j < i && Math.hypot(a[0] - b[0], a[1] - b[1]) < NEAR * this.unit),
    );
    return close ? Math.min(FAR, Math.max(1 - FAR, Math.round(share))) : share;
  }

  private node(name: number, label: Label, share: number, mark: Change): SceneNode {
    const { from, to, left, right } = this.edits.nodes.find((node) => node.name === name)!;
    const [x, y] = [0, 1].map((axis) => (from[axis] + (to[axis] - from[axis]) * share) / this.unit);
    const side = right !== null && (share === 1 || left === null) ? this.edits.right : this.edits.left;
    const charge = side.charges?.[(side === this.edits.right ? right : left) ?? -1] ?? 0;
    return { key: name, x, y: -y, label, charge, mark };
  }

  private edge(ends: [number, number], label: Label, side: 0 | 1, mark: Change): SceneEdge {
    const drawn = this.orders[side].get(pair(...ends));
    const order = orderOf(label, Number.isNaN(drawn) ? undefined : drawn);
    return { key: pair(...ends), from: ends[0], to: ends[1], order, label, mark };
  }
}

export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One frame around scenes, at least so many edge lengths wide that small graphs are not enlarged. */
export function frameOf(scenes: Scene[], least = 4): Frame {
  const places = scenes.flatMap(({ nodes }) => [...nodes.values()]);
  if (!places.length) return { x: -1, y: -1, width: 2, height: 2 };
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const width = Math.max(Math.max(...xs) - left + 1.4, least);
  const height = Math.max(Math.max(...ys) - top + 1.4, least * 0.7);
  return {
    x: (left + Math.max(...xs) - width) / 2,
    y: (top + Math.max(...ys) - height) / 2,
    width,
    height,
  };
}
