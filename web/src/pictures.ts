/** Pictures to save: drawings of the page as standalone SVG, or as PNG. */
import { api, drawingUrl } from "./api";
import { nameOf } from "./rows";
import { camera, picture } from "./map/stage";
import { pointRadius } from "./map/scatter";
import { paint } from "./colors";
import { allowed, info, points, theme, values } from "./state";
import type { Row } from "./types";

export type Format = "svg" | "png";

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
];
const TEXT = ["font-size", "font-weight", "text-anchor", "dominant-baseline"];
const FONT = "Inter, 'Helvetica Neue', Arial, sans-serif";
const VECTOR_POINTS = 6000; // above that the points of a map are saved as an image within the SVG
const INK = { light: "#1c2430", dark: "#e8ecf2" };
const SOFT = { light: "#5b6675", dark: "#9aa6b5" };
const PAPER = { light: "#ffffff", dark: "#10151c" };

export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A copy of an SVG of the page whose looks no longer depend on the page's style sheet. */
function standalone(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    const names = element.tagName === "text" || element.tagName === "tspan" ? [...STYLES, ...TEXT] : STYLES;
    for (const name of names) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  copy.removeAttribute("class");
  copy.setAttribute("font-family", FONT);
  return copy;
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function sheet(width: number, height: number, content: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${FONT}"><rect width="100%" height="100%" fill="${PAPER[theme.value]}"/>${content}</svg>`
  );
}

async function save(name: string, svg: string, format: Format): Promise<void> {
  const vector = new Blob([svg], { type: "image/svg+xml" });
  download(`${name}.${format}`, format === "svg" ? vector : await raster(vector));
}

async function raster(svg: Blob): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(svg);
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) =>
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("The picture is too large."))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

const fileName = (kind: string) => `${(info.value?.name ?? "graphs").replace(/[^\w-]+/g, "-")}-${kind}`;

/** The map as it is seen now. */
export async function saveMap(format: Format): Promise<void> {
  const eye = camera.value;
  const surface = document.querySelector(".surface");
  if (!eye || !surface || !points.value) return;
  const overlay = standalone(surface.querySelector<SVGSVGElement>("svg.overlay")!);
  overlay.setAttribute("width", String(eye.width));
  overlay.setAttribute("height", String(eye.height));
  const vector = points.value.count <= VECTOR_POINTS;
  const dots = vector ? circles() : `<image width="${eye.width}" height="${eye.height}" href="${picture.take()}"/>`;
  await save(fileName("map"), sheet(eye.width, eye.height, dots + overlay.outerHTML), format);
}

function circles(): string {
  const [all, eye] = [points.value!, camera.value!];
  const colors = new Uint8Array(4 * all.count);
  paint(values.value, theme.value, colors);
  const radius = pointRadius(all.count, eye).toFixed(2);
  let text = "";
  for (let i = 0; i < all.count; i++) {
    const [x, y] = eye.toScreen(all.x[i], all.y[i]);
    if (!allowed.value(i) || x < 0 || y < 0 || x > eye.width || y > eye.height) continue;
    const fill = `rgb(${colors[4 * i]} ${colors[4 * i + 1]} ${colors[4 * i + 2]})`;
    text += `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" fill="${fill}" fill-opacity="0.8"/>`;
  }
  return text;
}

export interface Cell {
  title: string;
  note: string;
  /** A whole <svg> element. */
  svg: string;
}

/** Cells in rows, with a heading. */
export async function saveFigure(kind: string, heading: string, cells: Cell[], columns: number, format: Format) {
  const [side, gap, top] = [columns > 2 ? 200 : 340, 20, 56];
  const height = side + 44;
  const rows = Math.ceil(cells.length / columns);
  const [ink, soft] = [INK[theme.value], SOFT[theme.value]];
  const parts = cells.map(({ title, note, svg }, i) => {
    const [x, y] = [gap + (i % columns) * (side + gap), top + Math.floor(i / columns) * (height + gap)];
    const inner = svg.replace(/<\?xml[^>]*\?>/, "").replace(/<svg/, `<svg x="${x}" y="${y}"`);
    const [middle, line] = [x + side / 2, y + side + 16];
    return (
      sized(inner, side) +
      `<text x="${middle}" y="${line}" text-anchor="middle" font-size="13" font-weight="600" fill="${ink}">${escaped(title)}</text>` +
      `<text x="${middle}" y="${line + 17}" text-anchor="middle" font-size="12" fill="${soft}">${escaped(note)}</text>`
    );
  });
  const width = gap + columns * (side + gap);
  const head = `<text x="${gap}" y="34" font-size="18" font-weight="650" fill="${ink}">${escaped(heading)}</text>`;
  await save(fileName(kind), sheet(width, top + rows * (height + gap), head + parts.join("")), format);
}

/** Sets width and height of the outermost element of an SVG. */
function sized(svg: string, side: number): string {
  return svg.replace(/<svg[^>]*>/, (tag) => {
    const bare = tag.replace(/\s(width|height)=(".*?"|'.*?')/g, "");
    return bare.replace("<svg", `<svg width="${side}" height="${side}"`);
  });
}

/** Graphs of the collection side by side. */
export async function saveRows(kind: string, heading: string, rows: Row[], format: Format): Promise<void> {
  const state = info.value?.state ?? "";
  const drawings = await Promise.all(rows.map(({ position }) => api.drawing(drawingUrl(position, theme.value, state))));
  const cells = rows.map((row, i) => ({ title: `${i + 1}. ${nameOf(row)}`, note: size(row), svg: drawings[i] }));
  await saveFigure(kind, heading, cells, Math.min(4, rows.length), format);
}

const size = (row: Row) => `${row.num_nodes} nodes, ${row.num_edges} edges`;

/** A drawing of the page as a cell of a figure. */
export function cellOf(title: string, note: string, svg: SVGSVGElement): Cell {
  return { title, note, svg: standalone(svg).outerHTML };
}
