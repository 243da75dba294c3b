/** Pictures of graphs: from the server for graphs of the collection, drawn here where parts are marked or move. */
import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { api, drawingUrl } from "../api";
import { groupColor } from "../colors";
import { info, theme } from "../state";
import type { Label, Query } from "../types";
import type { Frame, Scene, SceneEdge, SceneNode } from "./scene";

/** The picture of a graph of the collection. */
export function Thumb({ position, label }: { position: number; label: string }) {
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const url = drawingUrl(position, theme.value, info.value?.state ?? "");
  return (
    <span class={`thumb ${state}`}>
      <img
        key={url}
        src={url}
        alt={`drawing of ${label}`}
        loading="lazy"
        decoding="async"
        draggable={false}
        onLoad={() => setState("ready")}
        onError={() => setState("failed")}
      />
    </span>
  );
}

/** The picture of any query. */
export function QueryThumb({ query, label }: { query: Query; label: string }) {
  const url = useSignal<string | null>(null);
  const now = theme.value;
  useEffect(() => {
    let gone = false;
    api.drawingOf(query, now).then(
      (svg) => {
        if (!gone) url.value = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      },
      () => undefined,
    );
    return () => {
      gone = true;
      if (url.value) URL.revokeObjectURL(url.value);
    };
  }, [query, now]);
  return (
    <span class="thumb">{url.value && <img src={url.value} alt={`drawing of ${label}`} draggable={false} />}</span>
  );
}

const LETTER = 0.36; // how far a bond stays away from a letter

export function Drawing({ scene, frame, label }: { scene: Scene; frame: Frame; label: string }) {
  const chemical = info.value?.molecules ?? false;
  const small = scene.nodes.size <= 40;
  const radius = chemical ? 0.3 : Math.max(0.12, Math.min(0.26, 2.2 / Math.sqrt(scene.nodes.size || 1)));
  const alone = (node: SceneNode) => !scene.edges.some(({ from, to }) => from === node.key || to === node.key);
  const lettered = (node: SceneNode) => chemical && (node.label !== "C" || node.charge !== 0 || alone(node));
  const nodes = [...scene.nodes.values()];
  const ends = (edge: SceneEdge) => [scene.nodes.get(edge.from), scene.nodes.get(edge.to)] as const;
  return (
    <svg
      class="drawing"
      role="img"
      aria-label={label}
      viewBox={`${frame.x} ${frame.y} ${frame.width} ${frame.height}`}
      xmlns="http://www.w3.org/2000/svg"
    >
      <g class="marks">
        {scene.edges.map((edge) => {
          const [a, b] = ends(edge);
          if (edge.mark === "kept" || !a || !b) return null;
          return <line key={edge.key} class={`mark ${edge.mark}`} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />;
        })}
        {nodes.map((node) =>
          node.mark === "kept" ? null : (
            <circle key={node.key} class={`mark ${node.mark}`} cx={node.x} cy={node.y} r={0.42} />
          ),
        )}
      </g>
      <g class="edges">
        {scene.edges.map((edge) => {
          const [a, b] = ends(edge);
          if (!a || !b) return null;
          const [near, far] = [lettered(a) ? LETTER : 0, lettered(b) ? LETTER : 0];
          return (
            <g key={edge.key}>
              {strokes(a, b, chemical ? edge.order : 1, near, far).map((line, i) => (
                <line key={i} class={line.dashed ? "bond dashed" : "bond"} {...line.at} />
              ))}
              {!chemical && small && edge.label !== null && (
                <text class="edge-label" x={(a.x + b.x) / 2} y={(a.y + b.y) / 2}>
                  {String(edge.label)}
                </text>
              )}
            </g>
          );
        })}
      </g>
      <g class="nodes">
        {nodes.map((node) =>
          chemical ? (
            lettered(node) && (
              <text key={node.key} class={`atom element-${node.label}`} x={node.x} y={node.y}>
                {String(node.label ?? "")}
                {node.charge !== 0 && <tspan class="charge">{chargeText(node.charge)}</tspan>}
              </text>
            )
          ) : (
            <g key={node.key}>
              <circle class="node" cx={node.x} cy={node.y} r={radius} fill={labelColor(node.label)} />
              {small && node.label !== null && String(node.label).length <= 3 && (
                <text class="node-label" x={node.x} y={node.y}>
                  {String(node.label)}
                </text>
              )}
            </g>
          ),
        )}
      </g>
    </svg>
  );
}

/** The color of a node label: by its frequency in the collection. */
export function labelColor(label: Label): string {
  const known = info.value?.node_labels?.findIndex(({ value }) => value === label) ?? 0;
  return label === null ? groupColor(0, theme.value) : groupColor(known < 0 ? 11 : Math.min(known, 11), theme.value);
}

function chargeText(charge: number): string {
  const sign = charge > 0 ? "+" : "−";
  return Math.abs(charge) > 1 ? `${Math.abs(charge)}${sign}` : sign;
}

/** The lines of a bond of some order, shortened at its ends. */
function strokes(a: SceneNode, b: SceneNode, order: number, near: number, far: number) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const line = (offset: number, inset = 0, dashed = false) => ({
    dashed,
    at: {
      x1: a.x + dx * (near || inset) - dy * offset,
      y1: a.y + dy * (near || inset) + dx * offset,
      x2: b.x - dx * (far || inset) - dy * offset,
      y2: b.y - dy * (far || inset) + dx * offset,
    },
  });
  if (order === 1.5) return [line(0), line(0.16, 0.14, true)];
  if (order === 2) return [line(0.075), line(-0.075)];
  if (order === 3) return [line(0), line(0.15, 0.1), line(-0.15, 0.1)];
  return [line(0)];
}
