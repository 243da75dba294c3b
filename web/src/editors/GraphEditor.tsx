/** A graph editor: click adds a node, dragging from a node adds an edge, everything also by keyboard. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { labelColor } from "../drawing/Drawing";
import { count } from "../format";
import { IconButton } from "../Icon";
import { announcement, info } from "../state";
import type { Label } from "../types";
import type { EditorProps } from "./Editor";
import {
  EMPTY, freePlace, moved, relabeled, toGraph, withEdge, withNode, withoutEdge, withoutNode, type Sketch,
} from "./sketch"; // prettier-ignore

const RADIUS = 0.24;
/** How far from a node's middle a press means the node. */
const GRIP = 0.4;

export function GraphEditor({ onSearch, onClose }: EditorProps) {
  const history = useSignal<Sketch[]>([EMPTY]);
  const chosen = useSignal(-1);
  const from = useSignal(-1); // where an edge starts that is being drawn
  const pointer = useSignal<[number, number] | null>(null);
  const label = useSignal<Label>(info.value?.node_labels?.[0]?.value ?? null);
  const edgeLabel = useSignal<Label>(info.value?.edge_labels?.[0]?.value ?? null);
  const dragging = useSignal<Sketch | null>(null); // while a node is moved
  const surface = useRef<SVGSVGElement>(null);

  const sketch = dragging.value ?? history.value.at(-1)!;
  const labels = info.value?.node_labels ?? [];
  const edgeLabels = info.value?.edge_labels ?? [];
  const change = (next: Sketch, say: string) => {
    history.value = [...history.value.slice(-100), next];
    announcement.value = say;
  };
  const at = (event: PointerEvent): [number, number] => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      surface.current!.getScreenCTM()!.inverse(),
    );
    return [place.x, place.y];
  };
  const under = (x: number, y: number) => sketch.nodes.findIndex((node) => Math.hypot(node.x - x, node.y - y) < GRIP);
  const addNode = (x: number, y: number, beside = -1) => {
    let next = withNode(sketch, x, y, label.value);
    if (beside >= 0) next = withEdge(next, beside, next.nodes.length - 1, edgeLabel.value);
    change(next, `node ${next.nodes.length} added`);
    chosen.value = next.nodes.length - 1;
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    surface.current!.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    const node = under(x, y);
    pointer.value = [x, y];
    if (node < 0) return;
    if (event.shiftKey) dragging.value = sketch;
    else from.value = node;
    chosen.value = node;
  };
  const move = (event: PointerEvent) => {
    if (!pointer.value) return;
    pointer.value = at(event);
    if (dragging.value) dragging.value = moved(dragging.value, chosen.value, ...pointer.value);
  };
  const up = (event: PointerEvent) => {
    if (!pointer.value) return;
    const [x, y] = at(event);
    const node = under(x, y);
    if (dragging.value) {
      change(dragging.value, "node moved");
      dragging.value = null;
    } else if (from.value < 0 && node < 0) {
      addNode(x, y);
    } else if (from.value >= 0 && node < 0) {
      addNode(x, y, from.value);
    } else if (from.value >= 0 && node !== from.value) {
      change(withEdge(sketch, from.value, node, edgeLabel.value), `edge ${from.value + 1} to ${node + 1} added`);
      chosen.value = node;
    }
    from.value = -1;
    pointer.value = null;
  };

  const remove = () => {
    if (chosen.value < 0) return;
    change(withoutNode(sketch, chosen.value), `node ${chosen.value + 1} removed`);
    chosen.value = -1;
  };
  const undo = () => {
    if (history.value.length > 1) history.value = history.value.slice(0, -1);
    chosen.value = Math.min(chosen.value, history.value.at(-1)!.nodes.length - 1);
  };
  const turn = (by: number) => {
    const all = sketch.nodes.length;
    if (!all) return;
    chosen.value = (chosen.value + by + all) % all;
    announcement.value = `node ${chosen.value + 1} of ${all}`;
  };
  const keys: Record<string, () => void> = {
    n: () => addNode(...freePlace(sketch, chosen.value), chosen.value),
    e: () => {
      if (from.value >= 0 && chosen.value >= 0) {
        change(withEdge(sketch, from.value, chosen.value, edgeLabel.value), "edge added");
        from.value = -1;
      } else {
        from.value = chosen.value;
        announcement.value = "choose the other end with the arrow keys, then press E";
      }
    },
    ArrowRight: () => turn(1),
    ArrowDown: () => turn(1),
    ArrowLeft: () => turn(-1),
    ArrowUp: () => turn(-1),
    Delete: remove,
    Backspace: remove,
    z: undo,
  };
  const search = () => onSearch({ graph: toGraph(sketch, labels.length > 0, edgeLabels.length > 0) });

  return (
    <section class="editor" aria-label="Graph editor">
      <svg
        ref={surface}
        class="graph-editor"
        viewBox="-4.5 -2.7 9 5.4"
        tabIndex={0}
        role="application"
        aria-label={`Graph editor with ${count(sketch.nodes.length, "node")} and ${count(sketch.edges.length, "edge")}. N adds a node, arrows choose one, E draws an edge, Delete removes.`}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onKeyDown={(event) => {
          const action = keys[event.key];
          if (!action || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.stopPropagation();
          action();
        }}
      >
        {!sketch.nodes.length && (
          <text class="hint" x="0" y="0">
            Click to add nodes, drag between them to add edges
          </text>
        )}
        {sketch.edges.map((edge, i) => {
          const [a, b] = [sketch.nodes[edge.from], sketch.nodes[edge.to]];
          const drop = () => change(withoutEdge(sketch, i), "edge removed");
          return (
            <g key={i}>
              <line class="bond" x1={a.x} y1={a.y} x2={b.x} y2={b.y} />
              <line class="edge-grip" x1={a.x} y1={a.y} x2={b.x} y2={b.y} onDblClick={drop} />
            </g>
          );
        })}
        {from.value >= 0 && pointer.value && (
          <line
            class="bond dashed"
            x1={sketch.nodes[from.value].x}
            y1={sketch.nodes[from.value].y}
            x2={pointer.value[0]}
            y2={pointer.value[1]}
          />
        )}
        {sketch.nodes.map((node, i) => (
          <g key={i} class={i === chosen.value ? "chosen" : i === from.value ? "from" : ""}>
            <circle class="node" cx={node.x} cy={node.y} r={RADIUS} fill={labelColor(node.label)} />
            {node.label !== null && (
              <text class="node-label" x={node.x} y={node.y}>
                {String(node.label)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <div class="row wrap">
        {labels.length > 0 && (
          <LabelSelect
            name="Node"
            all={labels.map(({ value }) => value)}
            value={label.value}
            onPick={(value) => {
              label.value = value;
              if (chosen.value >= 0) change(relabeled(sketch, chosen.value, value), `label ${value}`);
            }}
          />
        )}
        {edgeLabels.length > 0 && (
          <LabelSelect
            name="Edge"
            all={edgeLabels.map(({ value }) => value)}
            value={edgeLabel.value}
            onPick={(value) => (edgeLabel.value = value)}
          />
        )}
        <IconButton icon="undo" label="Undo" keys="z" onClick={undo} disabled={history.value.length < 2} />
        <IconButton
          icon="trash"
          label="Remove the chosen node"
          keys="Delete"
          onClick={remove}
          disabled={chosen.value < 0}
        />
        <span class="spring" />
        <button type="button" class="primary" disabled={!sketch.nodes.length} onClick={search}>
          Search this
        </button>
        <IconButton icon="close" label="Close the editor" onClick={onClose} />
      </div>
    </section>
  );
}

interface LabelSelectProps {
  name: string;
  all: Label[];
  value: Label;
  onPick: (value: Label) => void;
}

function LabelSelect({ name, all, value, onPick }: LabelSelectProps) {
  return (
    <label class="inline">
      {name}
      <select value={all.indexOf(value)} onChange={(event) => onPick(all[Number(event.currentTarget.value)])}>
        {all.map((label, i) => (
          <option key={i} value={i}>
            {String(label)}
          </option>
        ))}
      </select>
    </label>
  );
}
