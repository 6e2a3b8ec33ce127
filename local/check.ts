// npm run check: style, types, and code that nothing uses.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./stack/places.ts";

const CHECKS = [
  { name: "biome", argv: ["check", "."] },
  { name: "tsc", argv: ["-b"] },
  { name: "knip", argv: [] },
] as const;

const failed = CHECKS.filter(({ name, argv }) => {
  console.log(`── ${name} ${argv.join(" ")}`);
  // Not by way of npx: npm would look the tools up again and may ask the network.
  const { status, error } = spawnSync(join(ROOT, "node_modules", ".bin", name), argv, { stdio: "inherit", cwd: ROOT });
  if (error) console.error(error.message);
  return status !== 0;
});

console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.map(({ name }) => name).join(", ")}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
