#!/usr/bin/env node
// Runs the binary that has this file's name. Each platform's binaries have a package of their
// own. The binary gets the same standard streams and signals, and its exit status is passed on.
const { spawn } = require("node:child_process");
const path = require("node:path");

const program = path.basename(__filename, ".js");
const name = `@ralph-stop-hook/${process.platform}-${process.arch}`;
const exe = process.platform === "win32" ? `${program}.exe` : program;
let binary;
try {
  binary = require.resolve(`${name}/bin/${exe}`);
} catch {
  console.error(`${program}: ${name} is not installed; ` +
    `there is no binary for this platform, or npm omits optional packages`);
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal === null) {
    process.exit(status);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
