import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The versions of the packages in a file of digests. */
const versionsOf = (architecture: string): string[] =>
  read(`deploy/images/ffmpeg-${architecture}.sha256`)
    .trim()
    .split("\n")
    .map((line) => /^[0-9a-f]{64} {2}([a-z0-9]+)_(.+)_[a-z0-9]+\.deb$/.exec(line)?.slice(1).join(" ") ?? line);

describe("files for deployment", () => {
  it("pins the same ffmpeg on both architectures", () => {
    expect(versionsOf("arm64")).toEqual(versionsOf("amd64"));
    expect(versionsOf("amd64")[0]).toMatch(/^ffmpeg 7%3a\d+\.\d+\.\d+/);
  });

  it("bundles each migration of the folder; `npx drizzle-kit generate` writes migrations.js", () => {
    const names = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
    const code = read("migrations/migrations.js");
    const imports = [...code.matchAll(/^import (m\d{4}) from '\.\/(.*\.sql)';$/gm)];
    expect(imports.map(([, , name]) => name)).toEqual(names.sort());
    const tags = [...read("migrations/meta/_journal.json").matchAll(/"tag": "(.*)"/g)].map(([, tag]) => `${tag}.sql`);
    expect(tags).toEqual(names);
    const [, listed = ""] = code.split("migrations: {");
    expect(listed.match(/m\d{4}/g)).toEqual(imports.map(([, name]) => name));
  });

  it.each(["deploy/monitoring/alerts.yml", "deploy/monitoring/grafana-dashboard.json"])(
    "reads only metrics that exist in %s",
    (file) => {
      const code = ["fleet/fleet-metrics", "fleet/metrics"].map((name) => read(`worker/http/${name}.ts`)).join("\n");
      const names = new Set(code.match(/(?<=")copra_[a-z_]+(?=")/g));
      const used = [...new Set(read(file).match(/copra_[a-z_]+/g))].map((name) =>
        name.replace(/_(total|bucket|sum|count)$/, ""),
      );
      expect(used.length).toBeGreaterThan(4);
      expect(used.filter((name) => !names.has(name))).toEqual([]);
    },
  );
});
