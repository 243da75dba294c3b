/** A graph while it is drawn: values that never change, so that undo is a list of them. */
import type { Label, PlainGraph } from "../types";

export interface SketchNode {
  x: number;
  y: number;
  label: Label;
}

export interface Sketch {
  nodes: SketchNode[];
  edges: { from: number; to: number; label: Label }[];
}

export const EMPTY: Sketch = { nodes: [], edges: [] };

export function withNode(sketch: Sketch, x: number, y: number, label: Label): Sketch {
  return { ...sketch, nodes: [...sketch.nodes, { x, y, label }] };
}

export function withEdge(sketch: Sketch, from: number, to: number, label: Label): Sketch {
  const there = sketch.edges.some((edge) => joins(edge, from, to));
  return there || from === to ? sketch : { ...sketch, edges: [...sketch.edges, { from, to, label }] };
}

export function joins(edge: { from: number; to: number }, a: number, b: number): boolean {
  return (edge.from === a && edge.to === b) || (edge.from === b && edge.to === a);
}

export function withoutNode(sketch: Sketch, node: number): Sketch {
  const renamed = (i: number) => (i > node ? i - 1 : i);
  return {
    nodes: sketch.nodes.filter((_, i) => i !== node),
    edges: sketch.edges
      .filter(({ from, to }) => from !== node && to !== node)
      .map((edge) => ({ ...edge, from: renamed(edge.from), to: renamed(edge.to) })),
  };
}

export function withoutEdge(sketch: Sketch, index: number): Sketch {
  return { ...sketch, edges: sketch.edges.filter((_, i) => i !== index) };
}

export function moved(sketch: Sketch, node: number, x: number, y: number): Sketch {
  return { ...sketch, nodes: sketch.nodes.map((old, i) => (i === node ? { ...old, x, y } : old)) };
}

export function relabeled(sketch: Sketch, node: number, label: Label): Sketch {
  return { ...sketch, nodes: sketch.nodes.map((old, i) => (i === node ? { ...old, label } : old)) };
}

/** A free place for a new node, around an old one or in the middle. */
export function freePlace(sketch: Sketch, beside: number): [number, number] {
  const start = sketch.nodes[beside] ?? { x: 0, y: 0 };
  if (!sketch.nodes.length) return [0, 0];
  let best: [number, number] = [start.x, start.y];
  let widest = -1;
  for (let turn = 0; turn < 12; turn++) {
    const angle = (turn * Math.PI) / 6;
    const place: [number, number] = [start.x + Math.cos(angle), start.y + Math.sin(angle)];
    const inside = Math.abs(place[0]) < 4 && Math.abs(place[1]) < 2.2;
    const room = Math.min(...sketch.nodes.map(({ x, y }) => Math.hypot(x - place[0], y - place[1])));
    if (inside && room > widest + 1e-6) [best, widest] = [place, room];
  }
  return best;
}

export function toGraph(sketch: Sketch, labeled: boolean, edgesLabeled: boolean): PlainGraph {
  return {
    num_nodes: sketch.nodes.length,
    edges: sketch.edges.map(({ from, to }) => [from, to]),
    ...(labeled ? { node_labels: sketch.nodes.map(({ label }) => label) } : {}),
    ...(edgesLabeled ? { edge_labels: sketch.edges.map(({ label }) => label) } : {}),
  };
}
