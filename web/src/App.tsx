/** The whole page: head, map, panel, and what is shown when there is no map. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { online } from "./api";
import { count } from "./format";
import { Help } from "./Help";
import { Icon, IconButton } from "./Icon";
import { Legend } from "./Legend";
import { MapView } from "./map/MapView";
import { ClustersPanel, LinePanel } from "./panels/PlacesPanels";
import { ExplainPanel } from "./panels/ExplainPanel";
import { Pins } from "./panels/Pins";
import { SearchPanel } from "./panels/SearchPanel";
import { SelectionPanel } from "./panels/SelectionPanel";
import { searchFile } from "./queries";
import {
  announcement, helpOpen, info, open, PANELS, panel, panelOpen, points, problem, selection, show, theme, themeChoice,
  type Panel,
} from "./state"; // prettier-ignore

const CONTENT: Record<Panel, { title: string; view: () => preact.JSX.Element }> = {
  search: { title: "Search", view: SearchPanel },
  selection: { title: "Selection", view: SelectionPanel },
  explain: { title: "Explain", view: ExplainPanel },
  line: { title: "Line", view: LinePanel },
  clusters: { title: "Clusters", view: ClustersPanel },
};

export function App() {
  const dropping = useSignal(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      dropping.value = true;
    };
    const out = (event: DragEvent) => {
      if (!event.relatedTarget) dropping.value = false;
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      dropping.value = false;
      const file = event.dataTransfer?.files[0];
      if (file) void searchFile(file);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", out);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", out);
      window.removeEventListener("drop", drop);
    };
  }, []);

  return (
    <>
      <a class="skip" href="#query" onClick={focusQuery}>
        Skip to search
      </a>
      <Head />
      {!online.value && <Gone />}
      <main class={`${panelOpen.value ? "with-panel" : ""} ${panel.value}`}>
        <Stage />
        {info.value && points.value && panelOpen.value && <SidePanel />}
      </main>
      {dropping.value && (
        <div class="dropping">
          <p>
            <Icon name="file" /> Drop a file to search for its graph
          </p>
        </div>
      )}
      {helpOpen.value && <Help />}
      <p class="sr-only" role="status" aria-live="polite" id="announcement">
        {announcement.value}
      </p>
    </>
  );
}

function focusQuery(event?: Event): void {
  event?.preventDefault();
  show("search");
  setTimeout(() => document.getElementById("query")?.focus());
}

function Head() {
  const found = info.value;
  return (
    <header class="head">
      <span class="brand">
        <img src="/favicon.svg" alt="" width="24" height="24" />
        <b>ugraphemb</b>
      </span>
      {found && (
        <h1>
          <span class="name">{found.name}</span>{" "}
          <span class="soft">{count(found.graphs, found.molecules ? "molecule" : "graph")}</span>
        </h1>
      )}
      {found?.map.status === "computing" && (
        <span class="progress" role="status">
          <span class="spinner" /> computing the final map {Math.round(100 * found.map.progress)}%
        </span>
      )}
      <span class="spring" />
      <IconButton
        icon={theme.value === "dark" ? "sun" : "moon"}
        label={theme.value === "dark" ? "Light colors" : "Dark colors"}
        keys="t"
        onClick={() => (themeChoice.value = theme.value === "dark" ? "light" : "dark")}
      />
      <IconButton icon="link" label="Copy the link to this view" onClick={() => void copyLink()} />
      <IconButton icon="help" label="Help and keys" keys="?" onClick={() => (helpOpen.value = true)} />
    </header>
  );
}

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    announcement.value = "link copied";
  } catch {
    announcement.value = "the link is in the address bar";
  }
}

function Gone() {
  return (
    <p class="gone" role="alert">
      <span class="spinner" /> The server does not answer. This page continues by itself when the server is back.
    </p>
  );
}

function Stage() {
  const found = info.value;
  if (problem.value && !found) {
    return (
      <div class="stage-message">
        <h2>The collection could not be opened</h2>
        <p>{problem.value}</p>
        <button type="button" class="primary" onClick={() => void open()}>
          Try again
        </button>
      </div>
    );
  }
  if (!found) {
    return (
      <div class="stage-message" role="status">
        <div class="opening" aria-hidden="true">
          {Array.from({ length: 24 }, (_, i) => (
            <i key={i} />
          ))}
        </div>
        <p>Opening the collection…</p>
      </div>
    );
  }
  if (!points.value) {
    return (
      <div class="stage-message">
        <h2>{found.graphs ? "There is no map of this index yet" : "This index is empty"}</h2>
        <p>{found.graphs ? "A map needs a few graphs that differ." : "Add graphs, and this page shows them."}</p>
        <pre>ugraphemb add INDEX molecules.smi</pre>
        <button type="button" onClick={() => void open()}>
          Look again
        </button>
      </div>
    );
  }
  return (
    <div class="stage-map">
      <MapView />
      <Legend />
      <Pins />
    </div>
  );
}

function SidePanel() {
  const { view: View, title } = CONTENT[panel.value];
  const step = (by: number) => show(PANELS[(PANELS.indexOf(panel.value) + by + PANELS.length) % PANELS.length]);
  return (
    <aside class="panel" aria-label={title}>
      <div
        class="tabs"
        role="tablist"
        aria-label="Panels"
        onKeyDown={(event) => {
          if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
          step(event.key === "ArrowLeft" ? -1 : 1);
          const list = event.currentTarget as HTMLElement;
          setTimeout(() => list.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
        }}
      >
        {PANELS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === panel.value}
            aria-controls="panel-content"
            tabIndex={name === panel.value ? 0 : -1}
            onClick={() => show(name)}
          >
            {CONTENT[name].title}
            {name === "selection" && selection.value.length > 0 && <small>{selection.value.length}</small>}
          </button>
        ))}
      </div>
      <div class="panel-content" id="panel-content" role="tabpanel" aria-labelledby={`tab-${panel.value}`}>
        <View />
      </div>
    </aside>
  );
}
