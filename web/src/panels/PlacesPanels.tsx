/** Line and clusters: the figures of the paper, from the map. */
import { useEffect } from "preact/hooks";
import { chooseCluster, chosenCluster, clearClusters, clusters, findClusters } from "../clusters";
import { count } from "../format";
import { IconButton } from "../Icon";
import { clearLine, drawLine, line } from "../line";
import { pins, points } from "../state";
import { Gallery } from "./Gallery";

export function LinePanel() {
  const { status, graphs, error, ends } = line.value;
  const [a, b] = pins.value.slice(-2);
  const two = b !== undefined;
  return (
    <section class="line" aria-label="Line">
      <header class="section-head">
        <h2>Along a line</h2>
        {two && !(ends?.[0] === a && ends[1] === b) && (
          <button type="button" onClick={() => void drawLine(a, b)}>
            Between the last two pins
          </button>
        )}
        {status !== "none" && <IconButton icon="close" label="Clear the line" onClick={clearLine} />}
      </header>
      {status === "none" && (
        <div class="invitation">
          <p>
            Pin two points of the map. Twelve graphs along the line between them show how one kind of graph passes into
            another.
          </p>
          <div class="row wrap">
            <button type="button" onClick={() => void drawAcross()}>
              Across the whole map
            </button>
          </div>
        </div>
      )}
      {status === "asking" && <Skeletons />}
      {status === "failed" && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {status === "ready" && (
        <Gallery rows={graphs} kind="line" heading={`${count(graphs.length, "graph")} along the line`} />
      )}
    </section>
  );
}

/** Between the leftmost and the rightmost point. */
function drawAcross(): Promise<void> {
  const x = points.value!.x;
  let [first, last] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    if (x[i] < x[first]) first = i;
    if (x[i] > x[last]) last = i;
  }
  return drawLine(first, last);
}

export function ClustersPanel() {
  const { status, list, error } = clusters.value;
  const chosen = list[chosenCluster.value];
  useEffect(() => void findClusters(), []);
  return (
    <section class="clusters" aria-label="Clusters">
      <header class="section-head">
        <h2>Clusters</h2>
        {status === "ready" && <IconButton icon="close" label="Clear the clusters" onClick={clearClusters} />}
      </header>
      <p class="soft">
        The densest parts of the map. Choose one to see twelve of its members; or select your own with the lasso.
      </p>
      {status === "asking" && <Skeletons />}
      {status === "none" && (
        <button type="button" onClick={() => void findClusters()}>
          Find clusters
        </button>
      )}
      {status === "failed" && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="chips" role="group" aria-label="Clusters">
        {list.map((cluster, i) => (
          <button
            key={i}
            type="button"
            aria-pressed={i === chosenCluster.value}
            onClick={() => chooseCluster(i === chosenCluster.value ? -1 : i)}
          >
            <b>{i + 1}</b> {count(cluster.count, "graph")}
          </button>
        ))}
      </div>
      {chosen && (
        <Gallery
          rows={chosen.members}
          kind={`cluster-${chosenCluster.value + 1}`}
          heading={`Cluster ${chosenCluster.value + 1}: twelve of ${count(chosen.count, "graph")}`}
        />
      )}
    </section>
  );
}

function Skeletons() {
  return (
    <ul class="grid" aria-hidden="true">
      {Array.from({ length: 12 }, (_, i) => (
        <li key={i} class="skeleton cell" />
      ))}
    </ul>
  );
}
