import { describe, expect, it } from "vitest";
import { type NodeUnit, nodeUnit } from "./node-unit.ts";

const UNIT: NodeUnit = {
  command: ["/usr/bin/node", "/opt/copra/encoder-node/main.ts"],
  options: ["--url", "https://encode.example.com"],
  tokenFile: "/etc/copra/node-token",
  gpuGroups: [],
  drainSeconds: 600,
};
const linesOf = (changes: Partial<NodeUnit>): string[] => nodeUnit({ ...UNIT, ...changes }).split("\n");

describe("the unit of a node", () => {
  it("passes the node its token as a credential, its folder and time to drain", () => {
    const lines = linesOf({});
    expect(lines).toContain(
      "ExecStart=/usr/bin/node /opt/copra/encoder-node/main.ts --token-file %d/token --work %S/copra-node " +
        "--drain-seconds 600 --url https://encode.example.com",
    );
    expect(lines).toContain("LoadCredential=token:/etc/copra/node-token");
    expect(lines).toContain("TimeoutStopSec=660");
    expect(lines.filter((line) => /^(RestrictNamespaces|PrivateUsers|SupplementaryGroups)=/.test(line))).toEqual([]);
  });

  it("adds the GPU groups to the node's supplementary groups", () => {
    expect(linesOf({ gpuGroups: ["render", "video"] })).toContain("SupplementaryGroups=render video");
  });

  it.each([
    ["my node", '"my node"'],
    ['a"b', '"a\\"b"'],
    ["50%", '"50%%"'],
    ["$HOME", '"$$HOME"'],
    ["a\\b", '"a\\\\b"'],
    ["gpu,ssd:1", "gpu,ssd:1"],
  ])("quotes the word %s as systemd reads it", (word, written) => {
    const start = linesOf({ options: ["--name", word] }).find((line) => line.startsWith("ExecStart="));
    expect(start?.endsWith(` --name ${written}`)).toBe(true);
  });
});
