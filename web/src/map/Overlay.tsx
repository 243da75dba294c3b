/** Marks above the points: the query, its matches, pins, the line, clusters, the lasso. */
import { chosenCluster, clusters } from "../clusters";
import { line } from "../line";
import { queryPlace, search } from "../search";
import { hovered, pins, points } from "../state";
import { camera, frame } from "./stage";
import { pointRadius } from "./scatter";

export function Overlay({ lasso }: { lasso: number[] | null }) {
  frame.value; // subscribe
  const [eye, all] = [camera.value, points.value];
  if (!eye || !all) return null;
  const at = (i: number) => eye.toScreen(all.x[i], all.y[i]);
  const radius = pointRadius(all.count, eye);
  const answer = search.value?.answer;
  const place = answer && queryPlace.value;
  const stops = line.value.graphs.map(({ position }) => at(position));
  return (
    <svg class="overlay" aria-hidden="true">
      {clusters.value.list.map((cluster, i) => {
        const [x, y] = eye.toScreen(cluster.x, cluster.y);
        const chosen = i === chosenCluster.value;
        return (
          <g key={`c${i}`} class={chosen ? "disc chosen" : "disc"}>
            <circle cx={x} cy={y} r={cluster.radius * eye.scale} />
            <text x={x} y={y - cluster.radius * eye.scale - 6}>
              {i + 1}
            </text>
          </g>
        );
      })}
      {chosenCluster.value >= 0 &&
        clusters.value.list[chosenCluster.value]?.members.map(({ position }) => {
          const [x, y] = at(position);
          return <circle key={`m${position}`} class="member" cx={x} cy={y} r={radius + 2} />;
        })}
      {stops.length > 1 && <polyline class="line" points={stops.map((stop) => stop.join()).join(" ")} />}
      {stops.map(([x, y], i) => (
        <Badge key={`l${i}`} kind="stop" x={x} y={y} text={String(i + 1)} />
      ))}
      {answer?.matches.map(({ position, rank }) => {
        const [x, y] = at(position);
        return <Badge key={`r${position}`} kind="match" x={x} y={y} text={String(rank)} />;
      })}
      {place && <Star x={eye.toScreen(...place)[0]} y={eye.toScreen(...place)[1]} />}
      {pins.value.map((position, i) => {
        const [x, y] = at(position);
        return <Badge key={`p${position}`} kind="pin" x={x} y={y} text={letter(i)} />;
      })}
      {hovered.value >= 0 && hovered.value < all.count && (
        <circle class="hovered" cx={at(hovered.value)[0]} cy={at(hovered.value)[1]} r={radius + 4} />
      )}
      {lasso && <polygon class="lasso" points={lasso.join(" ")} />}
    </svg>
  );
}

export const letter = (index: number): string => String.fromCharCode(65 + index);

function Badge({ kind, x, y, text }: { kind: string; x: number; y: number; text: string }) {
  return (
    <g class={`badge ${kind}`} transform={`translate(${x} ${y})`}>
      <circle r={text.length > 1 ? 9.5 : 8.5} />
      <text>{text}</text>
    </g>
  );
}

function Star({ x, y }: { x: number; y: number }) {
  return (
    <g class="star" transform={`translate(${x} ${y})`}>
      <path d="M0-13 3.6-4.4 13-3.6 5.8 2.4 8 11.6 0 6.6-8 11.6-5.8 2.4-13-3.6-3.6-4.4Z" />
    </g>
  );
}
