import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const NEEDED = ["--url", "https://copra.example.com/", "--token", "n-1"];

describe("readConfig", () => {
  it("requires a URL and a token, and has defaults for all other settings", () => {
    expect(readConfig(NEEDED, {})).toEqual({
      url: "https://copra.example.com",
      token: "n-1",
      workFolder: ".copra-node",
      name: null,
      allowPrivate: "none",
      slots: { inspect: 32, encode: 1 },
      hw: "auto",
      isolation: process.platform === "linux" ? "required" : "best-effort",
      logLevel: "info",
      maxSourceBytes: 100 * 2 ** 30,
      drainMs: 600_000,
      pool: null,
      labels: [],
      spot: false,
      hours: null,
      exitWhenIdleMs: null,
      health: null,
      fontsFolder: null,
      speechModel: null,
      folders: [],
      tracing: null,
    });
  });

  it("reads the environment, and flags override the environment", () => {
    const env = { COPRA_URL: "http://10.0.0.1:8787", COPRA_NODE_TOKEN: "n-2", COPRA_NODE_WORK: "/var/copra" };
    expect(readConfig([], env)).toMatchObject({ url: "http://10.0.0.1:8787", token: "n-2", workFolder: "/var/copra" });
    expect(readConfig([], { ...env, COPRA_NODE_HW: "vaapi" }).hw).toBe("vaapi");
    expect(readConfig(["--hw", "off"], { ...env, COPRA_NODE_HW: "vaapi" }).hw).toBe("off");
    expect(() => readConfig([], { ...env, COPRA_NODE_HW: "gpu" })).toThrow("COPRA_NODE_HW");
    expect(readConfig([], { ...env, LOG_LEVEL: "debug" }).logLevel).toBe("debug");
    expect(readConfig(["--log-level", "warn"], { ...env, LOG_LEVEL: "debug" }).logLevel).toBe("warn");
    expect(readConfig([...NEEDED, "--slots", "3", "--name", "attic"], env)).toMatchObject({
      token: "n-1",
      name: "attic",
      slots: { encode: 3 },
    });
  });

  it("reads folders from flags or from the environment", () => {
    const media = { name: "media", path: "/mnt/nas", isReadOnly: false };
    const archive = { name: "archive", path: "/mnt/b", isReadOnly: true };
    const env = { COPRA_FOLDERS: "media=/mnt/nas,archive=/mnt/b:ro" };
    expect(readConfig(NEEDED, env).folders).toEqual([media, archive]);
    expect(readConfig([...NEEDED, "--folder", "archive=/mnt/b:ro"], env).folders).toEqual([archive]);
    expect(() => readConfig([...NEEDED, "--folder", "mnt/nas"], {})).toThrow("--folder (COPRA_FOLDERS) must be name=");
  });

  it("reads the pool and labels of the node from flags or from the environment", () => {
    const env = {
      COPRA_NODE_POOL: "spare",
      COPRA_NODE_LABELS: "region:eu,ssd",
      COPRA_NODE_SPOT: "1",
      COPRA_NODE_EXIT_WHEN_IDLE: "60",
    };
    const placed = { pool: "spare", labels: ["region:eu", "ssd"], spot: true, exitWhenIdleMs: 60_000, drainMs: 25_000 };
    expect(readConfig(NEEDED, env)).toMatchObject(placed);
    const flags = ["--pool", "gpu", "--label", "gpu", "--label", "a10", "--spot", "--exit-when-idle", "120"];
    expect(readConfig([...NEEDED, "--spot", "--drain-seconds", "110"], {}).drainMs).toBe(110_000);
    const flagged = { pool: "gpu", labels: ["a10", "gpu"], spot: true, exitWhenIdleMs: 120_000 };
    expect(readConfig([...NEEDED, ...flags], {})).toMatchObject(flagged);
    expect(readConfig([...NEEDED, ...flags], { ...env, COPRA_NODE_SPOT: "0" })).toMatchObject(flagged);
  });

  const invalid: [string[], RegExp][] = [
    [[], /--url.*\n.*token.*COPRA_NODE_TOKEN/],
    [["--url", "copra.example.com", "--token", "n"], /--url/],
    [["--url", "ftp://x", "--token", "n"], /--url/],
    [[...NEEDED, "--slots", "0"], /--slots/],
    [[...NEEDED, "--slots", "many"], /--slots/],
    [[...NEEDED, "--slots", "61"], /--slots/],
    [[...NEEDED, "--allow-private", "some"], /none, loopback or all/],
    [[...NEEDED, "--health-port", "http"], /--health-port must be a port, or address:port/],
    [[...NEEDED, "--allow-origin", "10.0.0.5:9000"], /--allow-origin must be an http or https URL/],
    [[...NEEDED, "--hw", "cuda"], /--hw .* auto, off, nvenc, qsv, vaapi, videotoolbox$/],
    [[...NEEDED, "--hw", ""], /--hw/],
    [[...NEEDED, "--log-level", "verbose"], /--log-level .* debug, info, warn, error$/],
    [[...NEEDED, "--isolation", "some"], /--isolation .* required or best-effort$/],
    [["--url", "http://x", "--token-file", "/nonexistent/token"], /--token-file \/nonexistent\/token .*ENOENT/],
    [[...NEEDED, "--pool", "GPU"], /--pool must have 1 to 32 characters/],
    [[...NEEDED, "--label", "a b"], /--label must be a label, such as gpu or region:eu/],
    [[...NEEDED, "--exit-when-idle", "0"], /--exit-when-idle must be 1 or more/],
    [[...NEEDED, "--exit-when-idle", "soon"], /--exit-when-idle must be a number of seconds/],
    [[...NEEDED, "--hours", "night"], /--hours must be two times of the day, such as 22-7/],
    [[...NEEDED, "--colour", "red"], /--colour/],
  ];
  it.each(invalid)("rejects the flags %j", (args, message) => {
    expect(() => readConfig(args, {})).toThrow(message);
  });
});
