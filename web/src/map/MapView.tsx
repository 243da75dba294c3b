/** The map: points below, marks above them, a card for the point under the pointer, tools at the side. */
import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { messageOf } from "../api";
import { paint } from "../colors";
import { search } from "../search";
import { allowed, points, selection, theme, tool, values, view } from "../state";
import { Camera } from "./camera";
import { HoverCard } from "./HoverCard";
import { listen } from "./interaction";
import { Overlay } from "./Overlay";
import { Pace } from "./pace";
import type { Points } from "./points";
import { Scatter } from "./scatter";
import { camera, frame, picture } from "./stage";
import { Tools } from "./Tools";

/** For tests and benchmarks: when the points were first drawn, how often since, and how many the last time. */
export const drawn = { first: 0, frames: 0, points: 0 };

const STILL = 150; // milliseconds without a move after which all points are drawn

export function MapView() {
  const surface = useRef<HTMLDivElement>(null);
  const lasso = useSignal<number[] | null>(null);
  const failure = useSignal<string | null>(null);
  const all = points.value;

  useEffect(() => {
    if (!all || !surface.current) return;
    try {
      return run(all, surface.current, (path) => (lasso.value = path && [...path]));
    } catch (error) {
      failure.value = messageOf(error);
      return;
    }
  }, [all]);

  return (
    <div class="map">
      <div
        ref={surface}
        class={`surface ${tool.value}`}
        tabIndex={0}
        role="application"
        aria-label={`Map of ${all?.count ?? 0} graphs. Arrow keys move from graph to graph, Enter pins, plus and minus zoom, question mark lists all keys.`}
      >
        <canvas key={String(all?.count)} aria-hidden="true" />
        <Overlay lasso={lasso.value} />
      </div>
      {failure.value ? <p class="notice center">{failure.value}</p> : <HoverCard />}
      <Tools />
    </div>
  );
}

/** Draws and listens until the result is called. */
function run(all: Points, surface: HTMLElement, lasso: (path: number[] | null) => void): () => void {
  const canvas = surface.querySelector("canvas")!;
  const scatter = new Scatter(canvas, all.x, all.y);
  const eye = new Camera(all.box);
  if (view.peek()) eye.view = view.peek()!;
  camera.value = eye;
  picture.take = () => scatter.picture(eye);
  const pace = new Pace(all.count);
  const here = {
    draw: (count: number) => scatter.draw(eye, count),
    timed: (count: number) => scatter.timed(eye, count),
  };
  let [pending, still, moving] = [0, 0, false];
  const draw = () => {
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      clearTimeout(still);
      if (moving) still = window.setTimeout(stand, STILL);
      else scatter.draw(eye);
      drawn.points = moving ? pace.draw(here) : all.count;
      drawn.first ||= performance.now();
      drawn.frames++;
      surface.dataset.drawn = "true";
    });
  };
  const stand = () => {
    moving = false;
    if (drawn.points < all.count) draw();
  };
  const drawMoving = () => {
    moving = true;
    clearTimeout(still); // it starts again when the frame is drawn, however long that takes
    draw();
  };
  const moved = () => {
    view.value = eye.view;
    frame.value++;
    drawMoving();
  };
  const watch = new ResizeObserver(([entry]) => {
    eye.width = entry.contentRect.width;
    eye.height = entry.contentRect.height;
    frame.value++;
    draw();
  });
  watch.observe(surface);
  const colors = new Uint8Array(4 * all.count);
  const stopPainting = effect(() => {
    paint(values.value, theme.value, colors);
    shade(colors, all.count);
    scatter.paint(colors);
    draw();
  });
  const stopMoving = effect(() => {
    const wanted = view.value;
    if (wanted && wanted !== eye.view) {
      eye.view = wanted;
      frame.value = frame.peek() + 1;
      drawMoving();
    }
  });
  const stopListening = listen({ element: surface, camera: eye, moved, lasso });
  return () => {
    cancelAnimationFrame(pending);
    clearTimeout(still);
    watch.disconnect();
    stopPainting();
    stopMoving();
    stopListening();
    scatter.dispose();
  };
}

/** How opaque each point is: not at all if filtered out, little while others are lit. */
function shade(colors: Uint8Array, count: number): void {
  const full = count > 20000 ? 165 : count > 4000 ? 205 : 230;
  const lit = selection.value;
  const faint = lit.length || search.value?.answer ? Math.round(full * (count > 20000 ? 0.3 : 0.42)) : full;
  const pass = allowed.value;
  for (let i = 0; i < count; i++) colors[4 * i + 3] = pass(i) ? faint : 0;
  for (const i of lit) if (colors[4 * i + 3]) colors[4 * i + 3] = 255;
}
