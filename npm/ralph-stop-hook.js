#!/usr/bin/env node
// Runs the binary of this platform, which is in a package of its own: the same
// standard streams, exit status and signals.
const { spawn } = require("node:child_process");

const name = `@ralph-stop-hook/${process.platform}-${process.arch}`;
const exe = process.platform === "win32" ? "ralph-stop-hook.exe" : "ralph-stop-hook";
let binary;
try {
  binary = require.resolve(`${name}/bin/${exe}`);
} catch {
  console.error(`ralph-stop-hook: ${name} is not installed; there may be no binary for this platform, or npm was told to omit optional packages`);
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`ralph-stop-hook: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal === null) {
    process.exit(status);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
