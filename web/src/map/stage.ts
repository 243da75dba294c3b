/** The camera of the map, for everything that depends on it. */
import { signal } from "@preact/signals";
import { hovered, points, view } from "../state";
import type { Camera } from "./camera";
import type { Box } from "./points";

/** Counts up whenever the camera moves, so that what depends on it is placed again. */
export const frame = signal(0);
export const camera = signal<Camera | null>(null);
/** The points as they are drawn now, as an image. */
export const picture: { take: () => string } = { take: () => "" };

/** Looks at a point, nearer if the map is far away. */
export function lookAt(position: number): void {
  const [all, eye] = [points.value, camera.value];
  if (!all || !eye) return;
  hovered.value = position;
  view.value = { x: all.x[position], y: all.y[position], zoom: Math.max(eye.view.zoom, 4) };
}

/** Shows a part of the map as a whole. */
export function lookAtBox(box: Box): void {
  const eye = camera.value;
  if (!eye) return;
  eye.show(box);
  view.value = { ...eye.view };
}

export function zoom(factor: number): void {
  const eye = camera.value;
  if (!eye) return;
  eye.zoomAt(factor);
  view.value = { ...eye.view };
}

export function showAll(): void {
  if (camera.value) view.value = camera.value.whole();
}
