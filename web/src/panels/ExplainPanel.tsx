/** Two graphs side by side, what differs in color, and the edit path step by step. */
import { useMemo, useRef } from "preact/hooks";
import { Drawing } from "../drawing/Drawing";
import { EditScenes, frameOf } from "../drawing/scene";
import { clearExplanation, explain, explanation, go, operationText, play, playing, step } from "../explain";
import { count, number } from "../format";
import { Icon, IconButton } from "../Icon";
import { cellOf, saveFigure, type Format } from "../pictures";
import { queryName } from "../queries";
import { SaveMenu } from "../SaveMenu";
import { pins } from "../state";
import type { Edits } from "../types";

export function ExplainPanel() {
  const now = explanation.value;
  const [a, b] = pins.value.slice(-2);
  if (!now) {
    return (
      <section class="invitation">
        <h2>See the edits</h2>
        <p>
          Click a match of a search, or pin two points of the map: both graphs side by side, aligned, and every edit
          between them.
        </p>
        {b !== undefined && (
          <div class="row wrap">
            <button type="button" onClick={() => void explain({ position: a }, { position: b })}>
              Explain the last two pins
            </button>
          </div>
        )}
      </section>
    );
  }
  return (
    <section class="explain" aria-label="Edits" aria-busy={now.status === "asking"}>
      <header class="section-head">
        <h2 class="pair">
          <span title={queryName(now.left)}>{queryName(now.left)}</span>
          <span aria-label="to">→</span>
          <span title={queryName(now.right)}>{queryName(now.right)}</span>
        </h2>
        <IconButton icon="close" label="Close" onClick={clearExplanation} />
      </header>
      {now.status === "asking" && !now.edits && <div class="skeleton stage" />}
      {now.status === "failed" && (
        <div class="notice">
          <p class="error" role="alert">
            {now.error}
          </p>
          <button type="button" onClick={() => void explain(now.left, now.right)}>
            Try again
          </button>
        </div>
      )}
      {now.edits && <Path edits={now.edits} busy={now.status === "asking"} />}
    </section>
  );
}

function Path({ edits, busy }: { edits: Edits; busy: boolean }) {
  const figure = useRef<HTMLDivElement>(null);
  const scenes = useMemo(() => new EditScenes(edits), [edits]);
  const [left, right] = useMemo(() => [scenes.side("left"), scenes.side("right")], [scenes]);
  const drawable = edits.left.coordinates !== null && edits.right.coordinates !== null;
  const frame = useMemo(() => frameOf([left, right]), [left, right]);
  const now = explanation.value!;
  const names = [queryName(now.left), queryName(now.right)];
  const save = async (format: Format) => {
    const [before, after] = figure.current!.querySelectorAll<SVGSVGElement>("svg.drawing");
    const cells = [cellOf(names[0], sizes(edits.left), before), cellOf(names[1], sizes(edits.right), after)];
    await saveFigure("edits", `${verdict(edits)}: ${edits.changes}`, cells, 2, format);
  };
  return (
    <>
      <div class={edits.proven ? "certificate proven" : "certificate open"}>
        <p class="verdict">
          {edits.proven ? <Icon name="check" /> : busy ? <span class="spinner" /> : null}
          <span>
            <b>{verdict(edits)}</b>
            {edits.proven ? ", proven exact" : ", not proven"}
            <span class="soft"> · {edits.changes}</span>
          </span>
          {!edits.proven && !busy && (
            <button type="button" class="quiet" onClick={() => void explain(now.left, now.right, 1)}>
              Try longer
            </button>
          )}
          <SaveMenu label="Save this picture" save={save} />
        </p>
      </div>
      {drawable ? (
        <div class="two" ref={figure}>
          <figure>
            <Drawing scene={left} frame={frame} label={`${names[0]}, removed and relabeled parts marked`} />
            <figcaption>
              <strong>{names[0]}</strong> <span class="soft">{sizes(edits.left)}</span>
            </figcaption>
          </figure>
          <figure>
            <Drawing scene={right} frame={frame} label={`${names[1]}, added and relabeled parts marked`} />
            <figcaption>
              <strong>{names[1]}</strong> <span class="soft">{sizes(edits.right)}</span>
            </figcaption>
          </figure>
        </div>
      ) : (
        <p class="notice">These graphs are too large to draw; the edits are listed below.</p>
      )}
      <MarkLegend edits={edits} />
      {scenes.steps > 0 && <Player edits={edits} scenes={scenes} drawable={drawable} />}
      {scenes.steps === 0 && <p class="notice">The same graph: nothing needs to be edited.</p>}
    </>
  );
}

const sizes = (graph: Edits["left"]) => `${count(graph.num_nodes, "node")}, ${count(graph.num_edges, "edge")}`;

function verdict(edits: Edits): string {
  if (edits.proven) return count(edits.distance, "edit");
  return `${number(edits.lower)} to ${count(edits.upper, "edit")}`;
}

function MarkLegend({ edits }: { edits: Edits }) {
  const used = new Set([...edits.nodes, ...edits.edges].map(({ change }) => change));
  return (
    <ul class="mark-legend" aria-label="Colors of edits">
      {(["removed", "relabeled", "added"] as const)
        .filter((change) => used.has(change))
        .map((change) => (
          <li key={change}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <circle class={`mark ${change}`} cx="5" cy="5" r="5" />
            </svg>
            {change}
          </li>
        ))}
    </ul>
  );
}

function Player({ edits, scenes, drawable }: { edits: Edits; scenes: EditScenes; drawable: boolean }) {
  const now = step.value;
  const all = useMemo(() => Array.from({ length: scenes.steps + 1 }, (_, i) => scenes.after(i)), [scenes]);
  const frame = useMemo(() => frameOf(all), [all]);
  const done = edits.operations[now - 1];
  const paid = edits.operations.slice(0, now).reduce((sum, { cost }) => sum + cost, 0);
  return (
    <section
      class="player"
      aria-label="Edit path"
      onKeyDown={(event) => {
        const jump: Record<string, () => void> = {
          ArrowLeft: () => go(now - 1),
          ArrowRight: () => go(now + 1),
          Home: () => go(0),
          End: () => go(scenes.steps),
        };
        if (!jump[event.key]) return;
        event.preventDefault();
        playing.value = false;
        jump[event.key]();
      }}
    >
      {drawable && (
        <div class="stage">
          <Drawing scene={all[now]} frame={frame} label={`the graph after ${now} of ${scenes.steps} edits`} />
          <p class="caption" aria-hidden="true">
            {done ? operationText(done, edits) : "Start"} <span class="soft">cost so far {number(paid)}</span>
          </p>
        </div>
      )}
      <div class="row controls">
        <IconButton icon="first" label="To the start" keys="Home" onClick={() => go(0)} disabled={now === 0} />
        <IconButton
          icon="back"
          label="One step back"
          keys="ArrowLeft"
          onClick={() => go(now - 1)}
          disabled={now === 0}
        />
        <IconButton
          icon={playing.value ? "pause" : "play"}
          label={playing.value ? "Pause" : "Play"}
          onClick={() => (playing.value ? (playing.value = false) : play())}
        />
        <IconButton
          icon="next"
          label="One step forward"
          keys="ArrowRight"
          onClick={() => go(now + 1)}
          disabled={now === scenes.steps}
        />
        <IconButton
          icon="last"
          label="To the end"
          keys="End"
          onClick={() => go(scenes.steps)}
          disabled={now === scenes.steps}
        />
        <input
          type="range"
          aria-label="Step"
          min="0"
          max={scenes.steps}
          value={now}
          onInput={(event) => {
            playing.value = false;
            go(Number(event.currentTarget.value));
          }}
        />
        <span class="count">
          {now} / {scenes.steps}
        </span>
      </div>
      <ol class="steps">
        {edits.operations.map((operation, i) => (
          <li key={i}>
            <button
              type="button"
              class={`step ${operation.operation.split(" ")[0]}`}
              aria-current={i === now - 1 ? "step" : undefined}
              onClick={() => go(i + 1)}
            >
              {operationText(operation, edits)}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
