// Builds the page into src/ugraphemb/web/static: hashed files, their licenses, and nothing from other hosts.
// Fails if what every visitor loads is larger than the limit.
import { readFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT = 600_000; // bytes, gzipped, without the molecule editor
const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/ugraphemb/web/static");

rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, "assets"), { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx", "src/style.css"],
  outdir: target,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  assetNames: "assets/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  metafile: true,
  legalComments: "none", // licenses.txt has them all
  loader: { ".woff2": "file" },
  logLevel: "warning",
});

const files = Object.entries(metafile.outputs).map(([path, output]) => ({
  name: relative(target, join(here, path)),
  entry: output.entryPoint,
  inputs: Object.keys(output.inputs),
  text: readFileSync(join(here, path)),
}));
const named = (entry) => files.find((file) => file.entry === entry).name;
const font = files.find((file) => file.name.endsWith(".woff2")).name;
const html = readFileSync(join(here, "src/index.html"), "utf8")
  .replace("{{script}}", named("src/main.tsx"))
  .replace("{{style}}", named("src/style.css"))
  .replace("{{font}}", font);
writeFileSync(join(target, "index.html"), html);
writeFileSync(join(target, "favicon.svg"), readFileSync(join(here, "src/favicon.svg")));
writeFileSync(join(target, "licenses.txt"), licenses());

const editor = files.filter((file) => file.inputs.some((input) => input.includes("node_modules/openchemlib")));
const size = (file) => (file.name.endsWith(".woff2") ? file.text.length : gzipSync(file.text, { level: 9 }).length);
const page = files.filter((file) => !editor.includes(file)).reduce((sum, file) => sum + size(file), 0);
const optional = editor.reduce((sum, file) => sum + size(file), 0);
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} KB`;
console.log(`page ${kilobytes(page)} gzipped, molecule editor (only when asked for) ${kilobytes(optional)}`);
writeFileSync(join(target, "sizes.json"), JSON.stringify({ page, editor: optional, limit: LIMIT }) + "\n");
if (page > LIMIT) {
  console.error(`the page is larger than ${kilobytes(LIMIT)}`);
  process.exit(1);
}

function licenses() {
  const inputs = Object.keys(metafile.inputs).filter((path) => path.includes("node_modules/"));
  const packages = new Set(inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)[1]));
  const texts = [...packages].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map((file) => read(join(folder, file))).find(Boolean);
    return `${name} ${about.version} (${about.license})\n\n${text ?? ""}`;
  });
  return texts.join("\n" + "-".repeat(80) + "\n\n");
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
