import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

describe("readSettings", () => {
  it("has a default for each variable, also for an empty one", () => {
    const defaults = { home: resolve(".copra"), port: 8787, s3Port: 9000, nodes: 1 };
    expect(readSettings({})).toEqual(defaults);
    expect(readSettings({ COPRA_HOME: "", COPRA_PORT: " ", COPRA_NODES: "" })).toEqual(defaults);
  });

  it("reads every variable", () => {
    const env = { COPRA_HOME: "/srv/copra", COPRA_PORT: "80", COPRA_S3_PORT: "0", COPRA_NODES: "0" };
    expect(readSettings(env)).toEqual({ home: "/srv/copra", port: 80, s3Port: 0, nodes: 0 });
  });

  it.each([
    ["COPRA_PORT", "http", 'COPRA_PORT must be a port, 1 to 65535, or 0 for any free port, not "http".'],
    ["COPRA_S3_PORT", "70000", 'COPRA_S3_PORT must be a port, 1 to 65535, or 0 for any free port, not "70000".'],
    ["COPRA_NODES", "-1", 'COPRA_NODES must be a whole number, 0 to 64, not "-1".'],
    ["COPRA_NODES", "1.5", 'COPRA_NODES must be a whole number, 0 to 64, not "1.5".'],
  ])("reports the variable and its allowed values: %s=%s", (name, value, message) => {
    expect(() => readSettings({ [name]: value })).toThrow(message);
  });
});
