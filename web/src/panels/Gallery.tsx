/** Graphs side by side, to look at, to pin, to save as a picture. */
import { Thumb } from "../drawing/Drawing";
import { count } from "../format";
import { saveRows } from "../pictures";
import { nameOf } from "../rows";
import { SaveMenu } from "../SaveMenu";
import { hovered, pins, togglePin } from "../state";
import type { Row } from "../types";

export function Gallery({ rows, kind, heading }: { rows: Row[]; kind: string; heading: string }) {
  return (
    <>
      <header class="section-head">
        <h3>{heading}</h3>
        <SaveMenu label="Save this picture" save={(format) => saveRows(kind, heading, rows, format)} />
      </header>
      <ol class="grid">
        {rows.map((row, i) => (
          <li key={row.position}>
            <button
              type="button"
              class="cell"
              aria-pressed={pins.value.includes(row.position)}
              aria-label={`${i + 1}: ${nameOf(row)}, ${count(row.num_nodes, "node")}. Pin`}
              onPointerEnter={() => (hovered.value = row.position)}
              onPointerLeave={() => (hovered.value = -1)}
              onFocus={() => (hovered.value = row.position)}
              onClick={() => togglePin(row.position)}
            >
              <span class="rank">{i + 1}</span>
              <Thumb position={row.position} label={nameOf(row)} />
              <strong>{nameOf(row)}</strong>
              <span class="soft">{count(row.num_nodes, "node")}</span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
