/** What is proven, and which bound ruled out how many graphs. */
import { count, number, seconds } from "../format";
import { Icon } from "../Icon";
import { stopSearch, type Search } from "../search";

const BOUNDS: [string, string][] = [
  ["size", "Numbers of nodes and edges differ too much"],
  ["labels", "Labels differ too much"],
  ["degrees", "Degrees differ too much"],
  ["branch", "Assignment of nodes with their edges costs too much"],
  ["tight", "Tight bounds of the edit distance are too large"],
  ["exact", "The exact edit distance is too large"],
];

export function CertificateView({ search }: { search: Search }) {
  const { answer, status } = search;
  const certificate = answer!.certificate;
  const running = status === "verifying";
  if (!certificate) {
    return (
      <div class="certificate" role="status">
        <p class="verdict">
          {running ? <span class="spinner" /> : null}
          <span>
            {running ? "By vectors; edit distances follow" : `By vectors, ${seconds(answer!.seconds)}`}
            {status === "stopped" && " (stopped)"}
          </span>
          {running && <Stop />}
        </p>
      </div>
    );
  }
  const what =
    certificate.within === null
      ? certificate.found === 1
        ? "the nearest"
        : `the ${certificate.found} nearest`
      : `all within ${number(certificate.within)} edits`;
  const scope = `${count(certificate.graphs, "graph")}${certificate.scope === "shortlist" ? " of the shortlist" : ""}`;
  const kind = certificate.proven ? "proven" : running ? "running" : "open";
  const undecided = certificate.undecided_count;
  return (
    <div class={`certificate ${kind}`} role="status">
      <p class="verdict">
        {certificate.proven ? <Icon name="check" /> : running ? <span class="spinner" /> : null}
        <span>
          <b>{certificate.proven ? "Proven: " : running ? "Verifying: " : "Not proven: "}</b>
          {what} of {scope}
          {certificate.proven && !certificate.ordered && ", not yet in order"}
          {!certificate.proven && `; ${number(undecided)} undecided`}
        </span>
        <span class="soft">{seconds(certificate.seconds)}</span>
        {running && <Stop />}
      </p>
      <Removed
        removed={certificate.removed}
        graphs={certificate.graphs}
        found={certificate.found}
        undecided={undecided}
      />
    </div>
  );
}

function Stop() {
  return (
    <button type="button" class="quiet" onClick={stopSearch}>
      <Icon name="stop" /> Stop
    </button>
  );
}

interface RemovedProps {
  removed: Record<string, number>;
  graphs: number;
  found: number;
  undecided: number;
}

/** One bar of all graphs: ruled out by each bound, undecided, found. */
function Removed({ removed, graphs, found, undecided }: RemovedProps) {
  const parts = BOUNDS.filter(([name]) => removed[name]).map(([name, why]) => ({ name, why, size: removed[name] }));
  if (undecided) parts.push({ name: "undecided", why: "May still belong to the answer", size: undecided });
  parts.push({ name: "found", why: "The answer", size: found });
  const total =
    Math.max(
      graphs,
      parts.reduce((sum, { size }) => sum + size, 0),
    ) || 1;
  let from = 0;
  return (
    <>
      <svg class="removed" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ name, size }) => {
          const x = from;
          from += (100 * size) / total;
          return <rect key={name} class={`bound ${name}`} x={x} width={Math.max(0.4, from - x)} height="4" />;
        })}
      </svg>
      <ul class="bounds" aria-label="Ruled out by each bound">
        {parts.map(({ name, why, size }) => (
          <li key={name} title={why}>
            <svg viewBox="0 0 8 8" aria-hidden="true">
              <rect class={`bound ${name}`} width="8" height="8" rx="2" />
            </svg>
            {name} <b>{number(size)}</b>
          </li>
        ))}
      </ul>
    </>
  );
}
