/** Colors of points and legends: groups that the color-blind can tell apart too, and one scale for numbers. */
import type { Values } from "./map/points";

export type Rgb = [number, number, number];

/** Okabe and Ito (2008), reordered, then lighter and darker companions; one set for each background. */
const GROUPS = {
  light: ["#0072b2", "#e08a00", "#009e73", "#cc5aa0", "#56a8e0", "#d55e00", "#7a5cc7", "#8a8f00"],
  dark: ["#4ea8ec", "#f0ae3c", "#2fc79b", "#e58cc0", "#9ad2f7", "#f2804a", "#a994ef", "#cfd04a"],
};
const EXTRA = {
  light: ["#00546f", "#a05a2c", "#5f7f3f", "#8a94a3"],
  dark: ["#67b8c7", "#d0a37c", "#a5c47f", "#8d97a6"],
};
const MISSING = { light: "#b9c0ca", dark: "#4a5463" };

/** Perceptually even, from near (or small) to far (or large); readable on both backgrounds. */
const SCALE = {
  light: ["#f2a93b", "#e4685d", "#b63b83", "#6f2f94", "#2a2a6e"],
  dark: ["#ffd166", "#f78b6c", "#d95d96", "#8f64d8", "#4457b8"],
};

export type Theme = "light" | "dark";

export function rgb(hex: string): Rgb {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

export function groupColor(index: number, theme: Theme): string {
  const all = [...GROUPS[theme], ...EXTRA[theme]];
  return index < 0 ? MISSING[theme] : all[index % all.length];
}

/** The color of a share between 0 and 1. */
export function scaleColor(share: number, theme: Theme): Rgb {
  if (!(share >= 0)) return rgb(MISSING[theme]);
  const stops = SCALE[theme].map(rgb);
  const at = Math.min(1, share) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (at - low))) as Rgb;
}

export function scaleStops(theme: Theme): string[] {
  return SCALE[theme];
}

const LEVELS = 256;

/** RGB of every point, by a table of 256 colors; numbers linearly between `low` and `high`. */
export function paint(values: Values | null, theme: Theme, into: Uint8Array): void {
  if (!values) {
    fill(into, rgb(groupColor(0, theme)));
  } else if (values.kind === "groups") {
    const table = [groupColor(-1, theme), ...values.names.map((_, i) => groupColor(i, theme))].map(rgb);
    for (let i = 0; i < values.of.length; i++) put(into, i, table[values.of[i] + 1]);
  } else {
    const table = Array.from({ length: LEVELS }, (_, i) => scaleColor(i / (LEVELS - 1), theme));
    const missing = rgb(MISSING[theme]);
    const width = values.high - values.low || 1;
    for (let i = 0; i < values.of.length; i++) {
      const level = Math.round(((values.of[i] - values.low) / width) * (LEVELS - 1));
      put(into, i, Number.isNaN(level) ? missing : table[Math.max(0, Math.min(LEVELS - 1, level))]);
    }
  }
}

function put(into: Uint8Array, i: number, color: Rgb): void {
  into[4 * i] = color[0];
  into[4 * i + 1] = color[1];
  into[4 * i + 2] = color[2];
}

function fill(into: Uint8Array, color: Rgb): void {
  for (let i = 0; i < into.length / 4; i++) put(into, i, color);
}
