/** What the colors mean; names can be switched off, numbers limited to a range. */
import { groupColor, scaleStops } from "./colors";
import { number } from "./format";
import { colorBy, hidden, info, origin, points, range, theme, values, valuesProblem } from "./state";

const COMPUTED: [string, string][] = [
  [":size", "Size (nodes)"],
  [":density", "Density (edges of those possible)"],
  [":crowding", "Crowding on the map"],
  [":distance", "Distance to the query"],
];

export function Legend() {
  const found = info.value;
  if (!found || !points.value) return null;
  const columns = found.columns.filter(({ name, distinct, type, missing }) => {
    const few = distinct === null || distinct > 1;
    return (
      few &&
      name !== "nodes" &&
      missing < found.graphs &&
      !(type === "text" && distinct !== null && distinct > found.graphs / 2)
    );
  });
  return (
    <section class="legend card" aria-label="Colors">
      <label class="color-by">
        <span>Color</span>
        <select value={colorBy.value} onChange={(event) => (colorBy.value = event.currentTarget.value)}>
          {columns.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          {COMPUTED.map(([name, text]) => (
            <option key={name} value={name} disabled={name === ":distance" && !origin.value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {valuesProblem.value ? <p class="error">{valuesProblem.value}</p> : <Key />}
    </section>
  );
}

function Key() {
  const of = values.value;
  if (!of) return null;
  if (of.kind === "groups") return <Groups names={of.names} counts={of.counts} />;
  if (of.min === of.max) return <p class="soft">All the same: {number(of.min)}</p>;
  // The ends of the sliders are those of the colors; at an end they let everything beyond it through.
  const [low, high] = range.value ?? [of.low, of.high];
  const set = (side: 0 | 1, value: number) => {
    const next: [number, number] = side === 0 ? [Math.min(value, high), high] : [low, Math.max(value, low)];
    range.value = next[0] <= of.low && next[1] >= of.high ? null : next;
  };
  const slider = (side: 0 | 1, label: string) => (
    <input
      type="range"
      aria-label={label}
      min={of.low}
      max={of.high}
      step={(of.high - of.low) / 200}
      value={side === 0 ? low : high}
      onInput={(event) => set(side, Number(event.currentTarget.value))}
    />
  );
  return (
    <div class="scale">
      <svg class="ramp" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <defs>
          <linearGradient id="ramp">
            {scaleStops(theme.value).map((color, i, all) => (
              <stop key={color} offset={i / (all.length - 1)} stop-color={color} />
            ))}
          </linearGradient>
        </defs>
        <rect width="100" height="6" rx="1" fill="url(#ramp)" />
      </svg>
      <div class="between">
        {slider(0, "smallest value shown")}
        {slider(1, "largest value shown")}
      </div>
      <div class="ends">
        <span>{(low <= of.low && of.min < of.low ? "≤ " : "") + number(low)}</span>
        <span>{(high >= of.high && of.max > of.high ? "≥ " : "") + number(high)}</span>
      </div>
    </div>
  );
}

function Groups({ names, counts }: { names: string[]; counts: number[] }) {
  const toggle = (name: string, alone: boolean) => {
    const next = new Set(hidden.value);
    if (alone) {
      const others = names.filter((other) => other !== name);
      const already = others.every((other) => next.has(other)) && !next.has(name);
      next.clear();
      if (!already) others.forEach((other) => next.add(other));
    } else if (!next.delete(name)) next.add(name);
    hidden.value = next;
  };
  return (
    <ul class="groups" title="Click hides and shows, Shift-click or double-click shows one alone">
      {names.map((name, i) => (
        <li key={name}>
          <button
            type="button"
            aria-pressed={!hidden.value.has(name)}
            onClick={(event) => toggle(name, event.shiftKey)}
            onDblClick={() => toggle(name, true)}
          >
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <circle cx="5" cy="5" r="5" fill={groupColor(i, theme.value)} />
            </svg>
            <span>{name}</span>
            <small>{number(counts[i])}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}
