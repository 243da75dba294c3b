/** The keys, and what the page is. */
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "./Icon";
import { helpOpen, info, PANELS, panel, show, theme, themeChoice, tool } from "./state";

const KEYS: [string, string][] = [
  ["/", "search"],
  ["1 … 5", "panels: search, selection, explain, line, clusters"],
  ["g", "to the map"],
  ["← → ↑ ↓", "on the map: from graph to graph"],
  ["Shift + arrows", "on the map: move it"],
  ["+  −  0", "on the map: nearer, farther, all of it"],
  ["Enter", "on the map: pin or unpin the graph"],
  ["Space", "on the map: add the graph to the selection"],
  ["v", "on the map: select what is in view"],
  ["l  m", "lasso, move (Shift + drag is a lasso, too)"],
  ["← →  Home End", "in the edit path: steps"],
  ["t", "light or dark"],
  ["Esc", "close; end the lasso"],
  ["?", "this help"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Help" onClose={() => (helpOpen.value = false)}>
      <header class="section-head">
        <h2>Keys</h2>
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </header>
      <dl>
        {KEYS.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="soft">
        ugraphemb {info.value?.version} · <a href="/licenses.txt">licenses of what this page is built from</a>
      </p>
    </dialog>
  );
}

/** Keys that work anywhere but in fields. */
export function listenForKeys(): void {
  window.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
    if (event.key === "Escape" && !helpOpen.value) {
      tool.value = "move";
      if (typing) target.blur();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || helpOpen.value) return;
    const actions: Record<string, () => void> = {
      "/": () => {
        show("search");
        setTimeout(() => document.getElementById("query")?.focus());
      },
      g: () => document.querySelector<HTMLElement>(".surface")?.focus(),
      l: () => (tool.value = "lasso"),
      m: () => (tool.value = "move"),
      t: () => (themeChoice.value = theme.value === "dark" ? "light" : "dark"),
      "?": () => (helpOpen.value = true),
    };
    PANELS.forEach((name, i) => (actions[String(i + 1)] = () => show(name)));
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
    if (/^[1-5]$/.test(event.key)) setTimeout(() => document.getElementById(`tab-${panel.value}`)?.focus());
  });
}
