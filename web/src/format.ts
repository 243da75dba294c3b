/** Numbers and properties as people read them. */
import type { Label } from "./types";

const whole = new Intl.NumberFormat("en-US");

export function count(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}

export function number(value: number): string {
  if (Number.isInteger(value)) return whole.format(value);
  return Math.abs(value) >= 1000 ? whole.format(Math.round(value)) : String(Number(value.toPrecision(3)));
}

export function labelText(value: Label | undefined): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? number(value) : String(value);
}

type Described = { num_nodes: number; num_edges: number; metadata: Record<string, Label> };

/** Size and metadata of a graph as pairs of texts, `first` before the others. */
export function properties(row: Described, first = ""): [string, string][] {
  const pairs = Object.entries(row.metadata)
    .filter(([name, value]) => value !== null && name !== "name" && name !== "title")
    .map(([name, value]): [string, string] => [name, labelText(value)]);
  pairs.sort(([a], [b]) => Number(b === first) - Number(a === first));
  return [["size", `${count(row.num_nodes, "node")}, ${count(row.num_edges, "edge")}`], ...pairs];
}

export function seconds(value: number): string {
  return value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;
}
