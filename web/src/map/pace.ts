/** How many points are drawn while the map moves: all, or as many as a frame has time for (no graphics card). */

const FIRST = 50_000; // points of the first frames, until one of them was timed
const FEW = 5_000; // always drawn
const FRAME = 12; // milliseconds that drawing may take
const EVERY = 8; // frames from one that is timed to the next: waiting for the result costs time, too

export class Pace {
  private shown: number;
  private frames = 0;

  constructor(private readonly count: number) {
    this.shown = Math.min(count, FIRST);
  }

  /** Draws a frame of the moving map; the number of its points. */
  draw(scatter: { draw(points: number): void; timed(points: number): number }): number {
    const points = this.shown;
    if (this.frames++ % EVERY) scatter.draw(points);
    else this.adapt(scatter.timed(points));
    return points;
  }

  private adapt(took: number): void {
    const change = Math.min(2, Math.max(0.2, FRAME / Math.max(0.1, took)));
    this.shown = Math.round(Math.min(this.count, Math.max(FEW, this.shown * change)));
  }
}
