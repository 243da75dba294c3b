/** Where the map looks: the center in data units and the zoom, 1 being the whole map. */
import type { Box, Points } from "./points";

export interface View {
  x: number;
  y: number;
  zoom: number;
}

const SAME = 1e-6; // of the map's size: how far apart two centers are still the same

/** The view of another map that shows the same graphs; null for the whole map. */
export function viewOnNewMap(view: View, before: Points, after: Points): View | null {
  const whole = new Camera(before.box).view;
  const size = (box: Box) => Math.max(box.right - box.left, box.top - box.bottom) || 1;
  const moved = Math.hypot(view.x - whole.x, view.y - whole.y);
  if (view.zoom === 1 && moved <= SAME * size(before.box)) return null;
  if (before.count !== after.count) return before.provisional === after.provisional ? view : null;
  const middle = before.nearest(view.x, view.y, 2 * moved + 2 * size(before.box), () => true);
  const scale = size(after.box) / size(before.box);
  const along = (of: "x" | "y") => after[of][middle] + (view[of] - before[of][middle]) * scale;
  return { x: along("x"), y: along("y"), zoom: view.zoom };
}

const MARGIN = 36; // pixels around the whole map

export class Camera {
  view: View;
  width = 1;
  height = 1;

  constructor(readonly box: Box) {
    this.view = this.whole();
  }

  whole(): View {
    return { x: (this.box.left + this.box.right) / 2, y: (this.box.bottom + this.box.top) / 2, zoom: 1 };
  }

  /** Pixels per data unit. */
  get scale(): number {
    const across = Math.max(1, this.width - 2 * MARGIN) / (this.box.right - this.box.left || 1);
    const up = Math.max(1, this.height - 2 * MARGIN) / (this.box.top - this.box.bottom || 1);
    return Math.min(across, up) * this.view.zoom;
  }

  toScreen(x: number, y: number): [number, number] {
    return [this.width / 2 + (x - this.view.x) * this.scale, this.height / 2 - (y - this.view.y) * this.scale];
  }

  toData(left: number, top: number): [number, number] {
    return [this.view.x + (left - this.width / 2) / this.scale, this.view.y - (top - this.height / 2) / this.scale];
  }

  /** Moves by pixels. */
  pan(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x - dx / this.scale, y: this.view.y + dy / this.scale };
  }

  /** Zooms around a place on the screen. */
  zoomAt(factor: number, left = this.width / 2, top = this.height / 2): void {
    const [x, y] = this.toData(left, top);
    const zoom = Math.min(2000, Math.max(0.5, this.view.zoom * factor));
    this.view = { ...this.view, zoom };
    const [nowX, nowY] = this.toData(left, top);
    this.view = { x: this.view.x + x - nowX, y: this.view.y + y - nowY, zoom };
  }

  /** Shows a box whole, no nearer than `closest`. */
  show(box: Box, closest = 40): void {
    const across = (this.box.right - this.box.left) / Math.max(box.right - box.left, 1e-9);
    const up = (this.box.top - this.box.bottom) / Math.max(box.top - box.bottom, 1e-9);
    const zoom = Math.max(1, Math.min(closest, 0.8 * Math.min(across, up)));
    this.view = { x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2, zoom };
  }

  /** Moves as little as needed so that a point is at least `margin` pixels inside. */
  reveal(x: number, y: number, margin = 60): void {
    const [left, top] = this.toScreen(x, y);
    const dx = Math.max(0, margin - left) - Math.max(0, left - (this.width - margin));
    const dy = Math.max(0, margin - top) - Math.max(0, top - (this.height - margin));
    if (dx || dy) this.pan(dx, dy);
  }
}
