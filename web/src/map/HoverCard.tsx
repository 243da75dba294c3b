/** The card of the graph under the pointer or the keyboard's cursor. */
import { useEffect } from "preact/hooks";
import { Thumb } from "../drawing/Drawing";
import { properties } from "../format";
import { nameOf, rowOf } from "../rows";
import { announcement, colorBy, hovered, pins, points } from "../state";
import { camera, frame } from "./stage";

const SIZE = { width: 232, height: 268 };

export function HoverCard() {
  frame.value; // subscribe
  const [eye, all, position] = [camera.value, points.value, hovered.value];
  const there = eye && all && position >= 0 && position < all.count;
  const row = there ? rowOf(position) : undefined;
  useEffect(() => {
    if (row) announcement.value = `${nameOf(row)}, ${row.num_nodes} nodes, ${row.num_edges} edges`;
  }, [row]);
  if (!there) return null;
  const [x, y] = eye.toScreen(all.x[position], all.y[position]);
  const left = x + 18 + SIZE.width > eye.width ? x - 18 - SIZE.width : x + 18;
  const top = Math.max(8, Math.min(eye.height - SIZE.height - 8, y - SIZE.height / 2));
  return (
    <div class="card hover-card" style={{ left: `${Math.max(8, left)}px`, top: `${top}px` }} role="tooltip">
      <Thumb key={position} position={position} label={row ? nameOf(row) : `graph ${position + 1}`} />
      <strong>{row ? nameOf(row) : "…"}</strong>
      <dl class="properties">
        {row &&
          properties(row, colorBy.value)
            .slice(0, 4)
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
      </dl>
      <small>{pins.value.includes(position) ? "Click to unpin" : "Click to pin"}</small>
    </div>
  );
}
