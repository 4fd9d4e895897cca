// Packs the binaries that goreleaser has built in dist into dist/npm/*.tgz: one
// package for each platform, with all programs, and one without a platform that depends on them.
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

process.chdir(path.join(__dirname, ".."));
const { version } = JSON.parse(fs.readFileSync("dist/metadata.json"));
const out = path.resolve("dist/npm");
const common = {
  version,
  description: "Keeps Claude Code working through a feature list until every feature passes",
  license: "MIT",
  repository: "github:ralph-stop-hook/ralph-stop-hook",
};

function pack(name, fields, files) {
  const dir = path.join(out, "package");
  for (const [to, from] of Object.entries({ LICENSE: "LICENSE", ...files })) {
    const file = path.join(dir, to);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.copyFileSync(from, file);
    fs.chmodSync(file, from === "LICENSE" || from.endsWith(".md") ? 0o644 : 0o755);
  }
  fs.writeFileSync(path.join(dir, "package.json"), JSON.stringify({ name, ...common, ...fields }, null, 2) + "\n");
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", out, dir];
  execFileSync("npm", args, { stdio: ["ignore", "ignore", "inherit"] });
  fs.rmSync(dir, { recursive: true });
}

fs.rmSync(out, { recursive: true, force: true });
const optionalDependencies = {};
const binaries = JSON.parse(fs.readFileSync("dist/artifacts.json")).filter(({ type }) => type === "Binary");
binaries.sort((a, b) => (a.path < b.path ? -1 : 1)); // goreleaser lists them in the order in which their builds end
const platforms = {}; // the files of each platform's package
const bin = {};
const shims = {};
for (const { goos, goarch, path: binary } of binaries) {
  const platform = `${goos === "windows" ? "win32" : goos}-${goarch === "amd64" ? "x64" : goarch}`;
  platforms[platform] = { ...platforms[platform], [`bin/${path.basename(binary)}`]: binary };
  const program = path.basename(binary, ".exe");
  bin[program] = `${program}.js`;
  shims[`${program}.js`] = "npm/shim.js";
}
for (const [platform, files] of Object.entries(platforms)) {
  const [os, cpu] = platform.split("-");
  const name = `@ralph-stop-hook/${platform}`;
  optionalDependencies[name] = version;
  pack(name, { os: [os], cpu: [cpu] }, files);
}
pack(
  "ralph-stop-hook",
  { bin, engines: { node: ">=18" }, optionalDependencies },
  { ...shims, "README.md": "README.md" },
);
