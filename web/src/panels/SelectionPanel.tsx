/** The selected graphs as a table: drawings, properties, sorting, export; or twelve of them at a glance. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api, messageOf, wasAborted } from "../api";
import { Thumb } from "../drawing/Drawing";
import { count, labelText } from "../format";
import { IconButton } from "../Icon";
import { lookAt } from "../map/stage";
import type { Points } from "../map/points";
import { download } from "../pictures";
import { nameOf, rowsOf } from "../rows";
import { hovered, info, points, select, selection, togglePin, tool } from "../state";
import type { Label, Row } from "../types";
import { Gallery } from "./Gallery";

const PAGE = 50;
const SORTABLE = 2000; // rows fetched for sorting

const BUILT_IN = ["id", "nodes", "edges"];

type Sort = { by: string; down: boolean };

export function SelectionPanel() {
  const chosen = selection.value;
  if (!chosen.length) return <Empty />;
  return <Selected chosen={chosen} />;
}

function Empty() {
  return (
    <section class="invitation">
      <h2>Select part of the map</h2>
      <p>
        Draw around points with the lasso (or hold Shift and drag). With the keyboard: arrows move from graph to graph,
        Space adds one, V takes all that are in view.
      </p>
      <div class="row wrap">
        <button type="button" onClick={() => (tool.value = "lasso")}>
          Take the lasso
        </button>
      </div>
    </section>
  );
}

function Selected({ chosen }: { chosen: Uint32Array }) {
  const rows = useSignal<Row[]>([]);
  const shown = useSignal(PAGE);
  const sort = useSignal<Sort>({ by: "", down: false });
  const glance = useSignal(false);
  const problem = useSignal<string | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    problem.value = null;
    shown.value = PAGE;
    rowsOf([...chosen.subarray(0, SORTABLE)], controller.signal).then(
      (found) => (rows.value = found),
      (error: unknown) => {
        if (!wasAborted(error)) problem.value = messageOf(error);
      },
    );
    return () => controller.abort();
  }, [chosen]);

  const columns = (info.value?.columns ?? []).map(({ name }) => name).filter((name) => !BUILT_IN.includes(name));
  const listed = sorted(rows.value, sort.value);
  return (
    <section class="selection" aria-label="Selection">
      <header class="section-head">
        <h2>{count(chosen.length, "graph")} selected</h2>
        <button type="button" class="quiet" aria-pressed={glance.value} onClick={() => (glance.value = !glance.value)}>
          Twelve members
        </button>
        <IconButton icon="close" label="Clear the selection" onClick={() => select(new Uint32Array())} />
      </header>
      <Export chosen={chosen} />
      {problem.value && (
        <p class="error" role="alert">
          {problem.value}
        </p>
      )}
      {glance.value ? (
        <Central chosen={chosen} />
      ) : (
        <>
          <div class="table-frame">
            <table>
              <thead>
                <tr>
                  <th scope="col">
                    <span class="sr-only">Drawing</span>
                  </th>
                  {[...BUILT_IN, ...columns].map((name) => (
                    <Heading key={name} name={name} sort={sort.value} onSort={(next) => (sort.value = next)} />
                  ))}
                </tr>
              </thead>
              <tbody>
                {listed.slice(0, shown.value).map((row) => (
                  <Line key={row.position} row={row} columns={columns} />
                ))}
              </tbody>
            </table>
          </div>
          {shown.value < listed.length && (
            <button type="button" class="wide" onClick={() => (shown.value += PAGE)}>
              Show {Math.min(PAGE, listed.length - shown.value)} more
            </button>
          )}
          {chosen.length > SORTABLE && (
            <p class="soft">The table holds the first {SORTABLE} graphs; an export holds all.</p>
          )}
        </>
      )}
    </section>
  );
}

function Export({ chosen }: { chosen: Uint32Array }) {
  const failure = useSignal<string | null>(null);
  const save = async (format: "csv" | "smiles" | "jsonl", suffix: string) => {
    failure.value = null;
    try {
      download(`${info.value?.name ?? "graphs"}-selection.${suffix}`, await api.export([...chosen], format));
    } catch (error) {
      failure.value = messageOf(error);
    }
  };
  return (
    <div class="row wrap">
      <span class="soft">Export</span>
      <button type="button" onClick={() => void save("csv", "csv")}>
        CSV
      </button>
      {info.value?.molecules && (
        <button type="button" onClick={() => void save("smiles", "smi")}>
          SMILES
        </button>
      )}
      <button type="button" onClick={() => void save("jsonl", "jsonl")}>
        JSON Lines
      </button>
      {failure.value && (
        <p class="error" role="alert">
          {failure.value}
        </p>
      )}
    </div>
  );
}

function Heading({ name, sort, onSort }: { name: string; sort: Sort; onSort: (next: Sort) => void }) {
  const active = sort.by === name;
  return (
    <th scope="col" aria-sort={active ? (sort.down ? "descending" : "ascending") : "none"}>
      <button type="button" onClick={() => onSort({ by: name, down: active && !sort.down })}>
        {name}
        <span class="arrow" aria-hidden="true">
          {active ? (sort.down ? "↓" : "↑") : ""}
        </span>
      </button>
    </th>
  );
}

function Line({ row, columns }: { row: Row; columns: string[] }) {
  return (
    <tr
      class={hovered.value === row.position ? "lit" : ""}
      onPointerEnter={() => (hovered.value = row.position)}
      onPointerLeave={() => (hovered.value = -1)}
    >
      <td>
        <button
          type="button"
          class="plain"
          aria-label={`Pin ${nameOf(row)} and show it on the map`}
          onClick={() => {
            togglePin(row.position);
            lookAt(row.position);
          }}
        >
          <Thumb position={row.position} label={nameOf(row)} />
        </button>
      </td>
      <th scope="row">{row.id}</th>
      <td class="number">{row.num_nodes}</td>
      <td class="number">{row.num_edges}</td>
      {columns.map((name) => (
        <td
          key={name}
          class={typeof row.metadata[name] === "number" ? "number" : "text"}
          title={labelText(row.metadata[name])}
        >
          {labelText(row.metadata[name])}
        </td>
      ))}
    </tr>
  );
}

function sorted(rows: Row[], { by, down }: Sort): Row[] {
  if (!by) return rows;
  const value = (row: Row): Label =>
    by === "id" ? row.id : by === "nodes" ? row.num_nodes : by === "edges" ? row.num_edges : (row.metadata[by] ?? null);
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null); // missing ones last
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  });
}

/** The twelve graphs nearest to the middle of the selection. */
function Central({ chosen }: { chosen: Uint32Array }) {
  const rows = useSignal<Row[]>([]);
  const all = points.value;
  useEffect(() => {
    if (all)
      void rowsOf(central(chosen, all)).then(
        (found) => (rows.value = found),
        () => undefined,
      );
  }, [chosen, all]);
  return <Gallery rows={rows.value} kind="cluster" heading={`Twelve of ${count(chosen.length, "graph")}`} />;
}

function central(chosen: Uint32Array, all: Points): number[] {
  const mean = (of: Float32Array) => chosen.reduce((sum, i) => sum + of[i], 0) / chosen.length;
  const [x, y] = [mean(all.x), mean(all.y)];
  const gap = (i: number) => (all.x[i] - x) ** 2 + (all.y[i] - y) ** 2;
  return [...chosen].sort((a, b) => gap(a) - gap(b)).slice(0, 12);
}
