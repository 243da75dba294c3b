/** The matches, with the bounds of their distances; they move when ranks change. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Thumb } from "../drawing/Drawing";
import { explain } from "../explain";
import { number, properties } from "../format";
import { IconButton } from "../Icon";
import { lookAt } from "../map/stage";
import { nameOf } from "../rows";
import type { Search } from "../search";
import { hovered, pins, togglePin } from "../state";
import type { Match } from "../types";

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

export function Matches({ search }: { search: Search }) {
  const list = useRef<HTMLUListElement>(null);
  const before = useRef(new Map<string, number>());
  const matches = search.answer!.matches;

  // Rows that changed places start from where they were (only what is drawn moves, so it costs no layout).
  useLayoutEffect(() => {
    const now = new Map<string, number>();
    for (const row of (list.current?.children ?? []) as unknown as HTMLElement[]) {
      const key = row.dataset.position!;
      const old = before.current.get(key);
      now.set(key, row.offsetTop);
      if (old === undefined || old === row.offsetTop || calm.matches) continue;
      row.animate([{ transform: `translateY(${old - row.offsetTop}px)` }, { transform: "none" }], {
        duration: 350,
        easing: "ease-out",
      });
    }
    before.current = now;
  });

  if (!matches.length) return <p class="notice">Nothing is that near.</p>;
  return (
    <ul class="matches" ref={list}>
      {matches.map((match) => (
        <MatchRow key={match.position} match={match} search={search} />
      ))}
    </ul>
  );
}

function MatchRow({ match, search }: { match: Match; search: Search }) {
  const name = nameOf(match);
  return (
    <li
      data-position={match.position}
      class={hovered.value === match.position ? "lit" : ""}
      onPointerEnter={() => (hovered.value = match.position)}
      onPointerLeave={() => (hovered.value = -1)}
    >
      <button
        type="button"
        class="match"
        aria-label={`Rank ${match.rank}: ${name}, ${distanceText(match)}. Explain`}
        onFocus={() => (hovered.value = match.position)}
        onClick={() => void explain(search.query, { id: match.id })}
      >
        <span class="rank">{match.rank}</span>
        <Thumb position={match.position} label={name} />
        <span class="about">
          <strong>{name}</strong>
          <span class="soft">{properties(match)[0][1]}</span>
          <Bounds match={match} scale={search.scale} />
        </span>
      </button>
      <span class="actions">
        <IconButton
          icon="pin"
          label={pins.value.includes(match.position) ? `Unpin ${name}` : `Pin ${name}`}
          pressed={pins.value.includes(match.position)}
          onClick={() => togglePin(match.position)}
        />
        <IconButton icon="target" label={`Show ${name} on the map`} onClick={() => lookAt(match.position)} />
      </span>
    </li>
  );
}

function distanceText(match: Match): string {
  if (match.upper === null || match.lower === null) return `predicted ${number(match.predicted)}`;
  if (match.proven) return match.upper === 1 ? "1 edit" : `${number(match.upper)} edits`;
  return `${number(Math.max(0, match.lower))} to ${number(match.upper)} edits`;
}

/** Lower and upper bound on a scale that all matches share; a dot where they meet. */
function Bounds({ match, scale }: { match: Match; scale: number }) {
  if (match.upper === null || match.lower === null) {
    return <span class="bounds-text soft">predicted {number(match.predicted)}</span>;
  }
  const at = (value: number) => 3 + (94 * Math.min(value, scale)) / (scale || 1);
  const [low, high] = [at(Math.max(0, match.lower)), at(match.upper)];
  return (
    <span class={match.proven ? "bounds-bar proven" : "bounds-bar"}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <line class="track" x1="3" x2="97" y1="4" y2="4" />
        <line class="span" x1={low} x2={high} y1="4" y2="4" />
        {match.proven && <line class="dot" x1={high} x2={high} y1="4" y2="4" />}
      </svg>
      <span class="bounds-text">{distanceText(match)}</span>
    </span>
  );
}
