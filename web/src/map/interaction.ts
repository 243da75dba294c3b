/** Mouse, touch and keyboard on the map. */
import { allowed, announcement, gesture, hovered, points, select, selection, togglePin, tool } from "../state";
import type { Camera } from "./camera";
import type { Points } from "./points";
import { pointRadius } from "./scatter";

export interface Surface {
  element: HTMLElement;
  camera: Camera;
  /** Called after the camera has moved. */
  moved: () => void;
  /** Called while a lasso is drawn, with x, y, … in pixels; with null when it ends. */
  lasso: (path: number[] | null) => void;
}

const CLICK = 5; // pixels that a click may wander

/** Starts listening; the result stops it. */
export function listen(surface: Surface): () => void {
  const { element, camera } = surface;
  const fingers = new Map<number, [number, number]>();
  let wandered = 0;
  let path: number[] | null = null;

  const at = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const under = (left: number, top: number, slack: number): number => {
    const all = points.value!;
    const [x, y] = camera.toData(left, top);
    return all.nearest(x, y, (pointRadius(all.count, camera) + slack) / camera.scale, allowed.value);
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !points.value) return;
    element.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    gesture.value = true;
    wandered = 0;
    if (fingers.size === 1 && (tool.value === "lasso" || event.shiftKey)) path = [...at(event)];
    else if (path) surface.lasso((path = null));
  };

  const move = (event: PointerEvent) => {
    if (!points.value) return;
    const [left, top] = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") hovered.value = under(left, top, 6);
      return;
    }
    wandered += Math.hypot(left - before[0], top - before[1]);
    fingers.set(event.pointerId, [left, top]);
    if (path) {
      path.push(left, top);
      surface.lasso(path);
    } else if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)![1];
      const spread = (point: [number, number]) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      const middle = [(left + other[0]) / 2, (top + other[1]) / 2];
      camera.pan((left - before[0]) / 2, (top - before[1]) / 2);
      camera.zoomAt(spread([left, top]) / spread(before), middle[0], middle[1]);
      surface.moved();
    } else if (wandered > CLICK) {
      camera.pan(left - before[0], top - before[1]);
      surface.moved();
    }
  };

  const up = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId) || !points.value) return;
    gesture.value = fingers.size > 0; // another map is shown only after this event
    const [left, top] = at(event);
    if (path && wandered > CLICK) {
      const polygon = path.flatMap((_, i) => (i % 2 ? [] : camera.toData(path![i], path![i + 1])));
      select(points.value.inside(polygon, allowed.value));
      tool.value = "move";
    } else if (wandered <= CLICK && fingers.size === 0) {
      const point = under(left, top, event.pointerType === "touch" ? 16 : 6);
      hovered.value = point;
      if (point >= 0) togglePin(point);
    }
    if (path) surface.lasso((path = null));
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 24 : 1;
    camera.zoomAt(Math.exp(-event.deltaY * lines * 0.0016), ...at(event));
    surface.moved();
  };

  const double = (event: MouseEvent) => {
    camera.zoomAt(event.shiftKey ? 0.5 : 2, ...at(event));
    surface.moved();
  };

  const leave = () => {
    if (!fingers.size) hovered.value = -1;
  };

  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !points.value) return;
    if (pressed(event, surface, points.value)) event.preventDefault();
  };

  const cancel = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    gesture.value = fingers.size > 0;
    surface.lasso((path = null));
  };

  const handlers = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: cancel, pointerleave: leave };
  const all = { ...handlers, wheel, dblclick: double, keydown: key } as unknown as Record<string, EventListener>;
  for (const [name, handler] of Object.entries(all)) element.addEventListener(name, handler, { passive: false });
  return () => {
    gesture.value = false;
    for (const [name, handler] of Object.entries(all)) element.removeEventListener(name, handler);
  };
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** A key on the map; false if it means nothing here. */
function pressed(event: KeyboardEvent, { camera, moved }: Surface, all: Points): boolean {
  const arrow = ARROWS[event.key];
  if (arrow && event.shiftKey) {
    camera.pan(-60 * arrow[0], 60 * arrow[1]);
    moved();
  } else if (arrow) {
    const from = hovered.value;
    const [x, y] = [camera.view.x, camera.view.y];
    const reach = Math.max(camera.width, camera.height) / camera.scale;
    const next =
      from < 0 ? all.nearest(x, y, reach, allowed.value) : all.toward(from, arrow[0], arrow[1], allowed.value);
    if (next >= 0) {
      hovered.value = next;
      camera.reveal(all.x[next], all.y[next]);
      moved();
    }
  } else if (event.key === "Enter" && hovered.value >= 0) {
    togglePin(hovered.value);
  } else if (event.key === " " && hovered.value >= 0) {
    const rest = selection.value.filter((i) => i !== hovered.value);
    const added = rest.length === selection.value.length;
    selection.value = added ? Uint32Array.from([...rest, hovered.value]).sort() : rest;
    announcement.value = `${selection.value.length} graphs selected`;
  } else if (event.key === "v") {
    const [left, top] = camera.toData(0, 0);
    const [right, bottom] = camera.toData(camera.width, camera.height);
    select(all.inside([left, top, right, top, right, bottom, left, bottom], allowed.value));
  } else if (event.key === "+" || event.key === "=" || event.key === "-") {
    const place = hovered.value >= 0 ? camera.toScreen(all.x[hovered.value], all.y[hovered.value]) : [];
    camera.zoomAt(event.key === "-" ? 1 / 1.4 : 1.4, ...(place as [number, number]));
    moved();
  } else if (event.key === "0") {
    camera.view = camera.whole();
    moved();
  } else {
    return false;
  }
  return true;
}
