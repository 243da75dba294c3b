/** Search: the query, the matches, and what is proven about them. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Drawing, QueryThumb, Thumb } from "../drawing/Drawing";
import { frameOf, sceneOf } from "../drawing/scene";
import { Editor } from "../editors/Editor";
import { count as counted } from "../format";
import { Icon, IconButton } from "../Icon";
import {
  choices, inputProblem, inputText, queryName, reading, searchFile, searchGraph, searchPosition, searchText,
} from "../queries"; // prettier-ignore
import { budget, busy, clearSearch, count, mode, search, startSearch, within } from "../search";
import { info, pins, points, where } from "../state";
import type { Mode } from "../types";
import { CertificateView } from "./Certificate";
import { Matches } from "./Matches";

const MODES: [Mode, string, string][] = [
  ["complete", "Proven", "The nearest of all graphs, proven by bounds and exact distances"],
  ["verified", "Shortlist", "The nearest by vectors, verified and reordered by edit distance"],
  ["within", "Within", "Every graph within so many edits, proven"],
  ["vectors", "Vectors", "The nearest by vectors, at once, without edit distances"],
];

export function SearchPanel() {
  const drawing = useSignal(false);
  return (
    <>
      <Ask onDraw={() => (drawing.value = !drawing.value)} drawing={drawing.value} />
      {drawing.value && (
        <Editor
          onSearch={(query) => {
            inputText.value = "smiles" in query ? query.smiles : "";
            inputProblem.value = null;
            void startSearch(query);
          }}
          onClose={() => (drawing.value = false)}
        />
      )}
      {choices.value && <Choices />}
      <Results />
    </>
  );
}

function Ask({ onDraw, drawing }: { onDraw: () => void; drawing: boolean }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const chemical = info.value?.molecules;
  useEffect(() => {
    const element = field.current!;
    element.style.height = "auto";
    element.style.height = `${Math.min(120, element.scrollHeight + 2)}px`;
  }, [inputText.value]);
  const submit = () => void searchText(inputText.value);
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div class={inputProblem.value ? "field wrong" : "field"}>
        <textarea
          ref={field}
          id="query"
          rows={1}
          spellcheck={false}
          autocomplete="off"
          aria-label={chemical ? "SMILES, graph as JSON, or id" : "Graph as JSON, or id"}
          aria-invalid={inputProblem.value !== null}
          aria-describedby="query-problem"
          placeholder={chemical ? "SMILES, JSON or id" : '{"num_nodes": 3, "edges": [[0,1],[1,2]]} or id'}
          value={inputText.value}
          onInput={(event) => {
            inputText.value = event.currentTarget.value;
            inputProblem.value = null;
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey) {
              event.preventDefault();
              submit();
            }
          }}
        />
        <button type="submit" class="primary" disabled={reading.value} aria-label="Search">
          <Icon name="search" />
        </button>
      </div>
      <p id="query-problem" class="error" role="alert">
        {inputProblem.value}
      </p>
      <div class="row">
        <button type="button" class="quiet" aria-expanded={drawing} onClick={onDraw}>
          <Icon name="draw" /> Draw
        </button>
        <button type="button" class="quiet" onClick={() => picker.current!.click()}>
          <Icon name="file" /> File
        </button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="File with a graph"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) void searchFile(file);
            event.currentTarget.value = "";
          }}
        />
        <span class="spring" />
        <Settings />
      </div>
    </form>
  );
}

function Settings() {
  return (
    <>
      <label class="inline" title={MODES.find(([name]) => name === mode.value)?.[2]}>
        <span class="sr-only">What is searched</span>
        <select value={mode.value} onChange={(event) => (mode.value = event.currentTarget.value as Mode)}>
          {MODES.map(([name, text, title]) => (
            <option key={name} value={name} title={title}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {mode.value === "within" ? (
        <label class="inline">
          <input
            class="small"
            type="number"
            min="0"
            max="50"
            value={within.value}
            onChange={(event) => (within.value = Math.max(0, Number(event.currentTarget.value) || 0))}
          />
          edits
        </label>
      ) : (
        <label class="inline">
          <span class="sr-only">How many</span>
          <select value={count.value} onChange={(event) => (count.value = Number(event.currentTarget.value))}>
            {[...new Set([5, 10, 20, 50, count.value])]
              .sort((a, b) => a - b)
              .map((k) => (
                <option key={k} value={k}>
                  {k} nearest
                </option>
              ))}
          </select>
        </label>
      )}
    </>
  );
}

function Choices() {
  const { name, graphs, count: all } = choices.value!;
  return (
    <section class="choices" aria-label={`Graphs of ${name}`}>
      <header class="section-head">
        <h3>
          {name}: {counted(all, "graph")}
          {graphs.length < all && `, the first ${graphs.length}`}
        </h3>
        <IconButton icon="close" label="Close" onClick={() => (choices.value = null)} />
      </header>
      <ul class="grid">
        {graphs.map((graph, i) => {
          const scene = sceneOf(graph);
          return (
            <li key={i}>
              <button type="button" class="cell" onClick={() => searchGraph(graph)}>
                <Drawing scene={scene} frame={frameOf([scene])} label={graph.id} />
                <strong>{graph.id}</strong>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Results() {
  const now = search.value;
  if (!now) return <Invitation />;
  const { answer, status, error } = now;
  return (
    <section class="results" aria-label="Results" aria-busy={busy() || reading.value}>
      {answer && status !== "asking" && <QueryHead />}
      {status === "failed" && (
        <div class="notice">
          <p class="error" role="alert">
            {error}
          </p>
          <button type="button" onClick={() => void startSearch(now.query)}>
            Try again
          </button>
        </div>
      )}
      {status === "asking" && <Waiting />}
      {answer && status !== "asking" && (
        <>
          <CertificateView search={now} />
          <Matches search={now} />
          {status === "done" && answer.certificate && !answer.certificate.proven && (
            <button
              type="button"
              class="wide"
              onClick={() => {
                budget.value = Math.min(4 * budget.value, info.value?.limits.seconds ?? 60);
                void startSearch(now.query);
              }}
            >
              Try longer
            </button>
          )}
        </>
      )}
    </section>
  );
}

function QueryHead() {
  const { query, answer } = search.value!;
  return (
    <header class="query-head">
      <div class="query-drawing">
        <QueryThumb query={query} label="the query" />
      </div>
      <div>
        <small>Query</small>
        <strong title={queryName(query)}>{queryName(query)}</strong>
        <span class="soft">
          {counted(answer!.query.graph.num_nodes, "node")}, {counted(answer!.query.graph.num_edges, "edge")}
          {where.value && " · among those shown"}
        </span>
      </div>
      <IconButton icon="close" label="Clear the search" onClick={clearSearch} />
    </header>
  );
}

function Waiting() {
  return (
    <ul class="matches" aria-hidden="true">
      {Array.from({ length: 6 }, (_, i) => (
        <li key={i} class="skeleton" />
      ))}
    </ul>
  );
}

/** What is shown before the first search. */
function Invitation() {
  const examples = useSignal<number[]>([]);
  const all = points.value;
  useEffect(() => {
    if (all) examples.value = [0.07, 0.38, 0.71].map((share) => Math.floor(share * all.count));
  }, [all]);
  const last = pins.value.at(-1);
  return (
    <section class="invitation">
      <h2>Find graphs like yours, with proof</h2>
      <ol>
        <li>
          <b>Ask.</b> {info.value?.molecules ? "Paste a SMILES, drop a file," : "Paste a graph as JSON, drop a file,"}{" "}
          draw, or pick a point of the map.
        </li>
        <li>
          <b>See.</b> The nearest graphs by vectors appear at once and light up on the map.
        </li>
        <li>
          <b>Know.</b> Their edit distances are then proven: bounds close, ranks settle, and a certificate says what
          ruled out the others.
        </li>
      </ol>
      <p class="soft">Or start with one of these:</p>
      <div class="examples">
        {(last === undefined ? examples.value : [last, ...examples.value.slice(1)]).map((position, i) => (
          <button key={position} type="button" class="cell" onClick={() => searchPosition(position)}>
            <Thumb position={position} label={`example ${i + 1}`} />
            <span>{position === last ? "the pinned graph" : `example ${i + 1}`}</span>
          </button>
        ))}
      </div>
    </section>
  );
}
