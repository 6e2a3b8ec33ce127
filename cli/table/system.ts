// Commands for this machine.
import type { CommandSpec } from "../command-spec.ts";

export const SYSTEM_COMMANDS: readonly CommandSpec[] = [
  {
    name: "dev",
    summary: "Run the whole system on this machine; --watch restarts it when a source is saved",
    options: [{ flags: "--watch", description: "Restart on save" }],
    handlesSignals: true,
    load: async () => (await import("../system/repository.ts")).dev,
  },
  {
    name: "node",
    summary: "Run an encoder node; copra node --help shows its options",
    handlesSignals: true,
    load: async () => (await import("../system/repository.ts")).node,
  },
  {
    name: "doctor",
    summary: "Check this machine and the connection to the service",
    load: async () => (await import("../system/doctor.ts")).doctor,
  },
];
