/** The pinned graphs, and what can be done with them. */
import { Thumb } from "../drawing/Drawing";
import { explain } from "../explain";
import { IconButton } from "../Icon";
import { drawLine } from "../line";
import { letter } from "../map/Overlay";
import { lookAt } from "../map/stage";
import { searchPosition } from "../queries";
import { nameOf, rowOf } from "../rows";
import { pins, togglePin } from "../state";

export function Pins() {
  const list = pins.value;
  if (!list.length) return null;
  const [a, b] = list.slice(-2);
  const [first, second] = [letter(list.length - 2), letter(list.length - 1)];
  return (
    <section class="pins" aria-label="Pinned graphs">
      <ul>
        {list.map((position, i) => {
          const row = rowOf(position);
          const name = row ? nameOf(row) : "…";
          return (
            <li key={position} class="card pin-card">
              <button
                type="button"
                class="plain"
                aria-label={`Show ${name} on the map`}
                onClick={() => lookAt(position)}
              >
                <Thumb position={position} label={name} />
              </button>
              <span class="pin-name">
                <b class="pin-letter">{letter(i)}</b>
                <span title={name}>{name}</span>
              </span>
              <span class="pin-actions">
                <IconButton
                  icon="search"
                  label={`Search for graphs like ${name}`}
                  onClick={() => searchPosition(position)}
                />
                <IconButton icon="close" label={`Unpin ${name}`} onClick={() => togglePin(position)} />
              </span>
            </li>
          );
        })}
      </ul>
      {list.length > 1 && (
        <div class="pin-pair">
          <button type="button" onClick={() => void explain({ position: a }, { position: b })}>
            Explain {first} → {second}
          </button>
          <button type="button" onClick={() => void drawLine(a, b)}>
            Line {first} – {second}
          </button>
        </div>
      )}
    </section>
  );
}
