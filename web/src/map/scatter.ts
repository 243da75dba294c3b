/** Draws the points with WebGL 2: one buffer for places, one for colors, one call per frame. */
import type { Camera } from "./camera";

const VERTEX = `#version 300 es
in vec2 place;
in vec4 color;
uniform vec2 center;
uniform vec2 scale;
uniform float size;
out vec4 tint;
void main() {
  // Hidden points have alpha 0 and are moved out of sight.
  gl_Position = color.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((place - center) * scale, 0.0, 1.0);
  gl_PointSize = size;
  tint = vec4(color.rgb * color.a, color.a);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint;
uniform float size;
out vec4 shown;
void main() {
  float inside = clamp(0.5 + (0.5 - length(gl_PointCoord - 0.5)) * size, 0.0, 1.0);
  shown = tint * inside;
}`;

/** Radius of a point in CSS pixels: smaller where there are many or the map is small, larger when zoomed in. */
export function pointRadius(count: number, camera: Camera): number {
  const base = count < 500 ? 4.5 : count < 3000 ? 3.4 : count < 12000 ? 2.5 : count < 60000 ? 1.8 : 1.3;
  const room = Math.max(0.6, Math.min(1, Math.min(camera.width, camera.height) / 700));
  return Math.min(9, base * room * Math.max(0.9, camera.view.zoom) ** 0.35);
}

export class Scatter {
  private readonly gl: WebGL2RenderingContext;
  private readonly program: WebGLProgram;
  private readonly places: WebGLBuffer;
  private readonly colors: WebGLBuffer;
  private readonly order: Uint32Array;
  private readonly shuffled: Uint8Array;
  private readonly count: number;

  /** Throws where the browser has no WebGL 2. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    x: Float32Array,
    y: Float32Array,
  ) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true });
    if (!gl) throw new Error("This browser offers no WebGL 2, which the map needs.");
    this.gl = gl;
    this.count = x.length;
    this.order = shuffledOrder(x.length); // so that no group lies on top of another
    this.shuffled = new Uint8Array(4 * x.length);
    const pairs = new Float32Array(2 * x.length);
    for (let k = 0; k < x.length; k++) {
      pairs[2 * k] = x[this.order[k]];
      pairs[2 * k + 1] = y[this.order[k]];
    }
    this.program = link(gl);
    gl.useProgram(this.program);
    this.places = gl.createBuffer()!;
    this.colors = gl.createBuffer()!;
    gl.bindVertexArray(gl.createVertexArray());
    this.attribute("place", this.places, 2, gl.FLOAT, false);
    gl.bufferData(gl.ARRAY_BUFFER, pairs, gl.STATIC_DRAW);
    this.attribute("color", this.colors, 4, gl.UNSIGNED_BYTE, true);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  private attribute(name: string, buffer: WebGLBuffer, size: number, type: number, normalized: boolean): void {
    const at = this.gl.getAttribLocation(this.program, name);
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.enableVertexAttribArray(at);
    this.gl.vertexAttribPointer(at, size, type, normalized, 0, 0);
  }

  /** RGBA bytes of each point, in the order of the points. */
  paint(colors: Uint8Array): void {
    const from = new Uint32Array(colors.buffer, colors.byteOffset, this.count);
    const to = new Uint32Array(this.shuffled.buffer);
    for (let k = 0; k < this.count; k++) to[k] = from[this.order[k]];
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.colors);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, this.shuffled, this.gl.DYNAMIC_DRAW);
  }

  /**
   * Draws the first `shown` points: since they are shuffled, a sample of all. Fewer are drawn larger, so that the map
   * keeps its look.
   */
  draw(camera: Camera, shown = this.count): void {
    const { gl } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const uniform = (name: string) => gl.getUniformLocation(this.program, name);
    gl.uniform2f(uniform("center"), camera.view.x, camera.view.y);
    gl.uniform2f(uniform("scale"), (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    const larger = Math.min(2, (this.count / Math.max(1, shown)) ** 0.25);
    gl.uniform1f(uniform("size"), 2 * ratio * larger * pointRadius(this.count, camera));
    gl.drawArrays(gl.POINTS, 0, shown);
  }

  /** Draws and waits until it is done: how many milliseconds that takes. */
  timed(camera: Camera, shown: number): number {
    const start = performance.now();
    this.draw(camera, shown);
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now() - start;
  }

  /** The points as an image; drawn again, since a browser keeps no frame after it was shown. */
  picture(camera: Camera): string {
    this.draw(camera);
    return this.canvas.toDataURL();
  }

  dispose(): void {
    this.gl.deleteBuffer(this.places);
    this.gl.deleteBuffer(this.colors);
    this.gl.deleteProgram(this.program);
  }
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(`The map could not be drawn: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}

/** The same permutation each time (Fisher and Yates, xorshift). */
function shuffledOrder(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 2463534242;
  for (let i = count - 1; i > 0; i--) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    const j = (seed >>> 0) % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
