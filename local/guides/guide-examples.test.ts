// Compares the pages of docs/ with the code: recipes are valid requests, formats exist, and troubleshooting has all
// error codes.
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import type * as z from "zod";
import { ERRORS, type ErrorTraits } from "#shared/errors.ts";
import { CONTAINERS_BY_NAME } from "#shared/format/containers.ts";
import { parseFormat } from "#shared/format/parse-format.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { parseTemplate } from "#shared/template/template-body.ts";
import { ROOT } from "../home/constants.ts";

const PAGE = readFileSync(join(ROOT, "docs", "recipes.md"), "utf8");
const RECIPES = PAGE.split("\n## ")
  .slice(1)
  .flatMap((section) =>
    [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => [section.split("\n")[0] ?? "", text] as const),
  );

const REST = {
  input: { url: "https://example.com/video.mp4" },
  storage: {
    service: "s3",
    bucket: "videos",
    region: "eu-west-1",
    credentials: { access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: "secret" },
  },
  notification: { type: "http", url: "https://example.com/hook" },
};

it.each(RECIPES)("the recipe %s is a valid request", (_title, text) => {
  const recipe = JSON.parse(text);
  const body = "outputs" in recipe ? { ...REST, ...recipe } : { ...REST, outputs: recipe };
  const result = parseJobRequest(body, "none");
  expect(result.ok ? "" : result.error.message).toBe("");
});

it("finds the recipes of the documentation", () => expect(RECIPES.length).toBeGreaterThan(6));

const PAGES = ["README.md", "client/README.md", ...globSync("docs/{,migrating/}*.md", { cwd: ROOT })];
const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

it("uses only valid formats in the text of all pages", () => {
  const formats = PAGES.flatMap((page) =>
    [...read(page).matchAll(/`(([a-z0-9_]+):[^`\s…<>{}"]*)`/g)].flatMap(([, format = "", container = ""]) =>
      // Keys such as `mp4:720p:1` are formats with an index.
      CONTAINERS_BY_NAME.has(container) ? [{ page, format, parsed: parseFormat(format.replace(/:\d+$/, "")) }] : [],
    ),
  );
  expect(formats.length).toBeGreaterThan(20);
  expect(formats.filter(({ parsed }) => !parsed.ok)).toEqual([]);
});

type Operation = {
  readonly route: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly body?: { readonly json: z.ZodType | string };
};
// Loaded at run time: the Worker's types differ from Node's.
const { OPERATIONS }: { readonly OPERATIONS: readonly Operation[] } = await import(
  new URL("../../worker/http/openapi/operations.ts", import.meta.url).href
);

/** The curl commands to a service, in blocks of shell commands. */
const CURLS = PAGES.flatMap((page) =>
  [...read(page).matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) =>
    (block.replaceAll("\\\n", " ").match(/curl (?:'[^']*'|"[^"]*"|[^'"\n])+/g) ?? []).flatMap((command) => {
      const [, path] = /(?:\$API|\$COPRA_URL|127\.0\.0\.1:8787)(\/v2[^\s"']*)/.exec(command) ?? [];
      return path === undefined ? [] : [{ page, command, path }];
    }),
  ),
);

const isRoute = (route: string, path: string): boolean => new RegExp(`^${route.replace(/:\w+/g, "[^/]+")}$`).test(path);

/** The error of a body; empty if the operation accepts it. */
function bodyError({ body }: Operation, text: string): string {
  const value = JSON.parse(text);
  if (body?.json === "NewTemplate") return parseTemplate(value).ok ? "" : "no template";
  if (body?.json !== "JobRequest")
    return typeof body?.json === "string" ? "" : (body?.json.safeParse(value).error?.message ?? "");
  const result = "template" in value ? { ok: true as const } : parseJobRequest(value, "none");
  return result.ok ? "" : result.error.message;
}

it.each(CURLS)("the API has the request of the curl command on $page to $path", ({ command, path }) => {
  const method =
    /-X (\w+)/.exec(command)?.[1] ?? (command.includes(" -T ") ? "PUT" : / -d /.test(command) ? "POST" : "GET");
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const operation = OPERATIONS.find(({ route }) => {
    const [verb, pattern = ""] = route.split(" ");
    return verb === method && isRoute(pattern, pathname);
  });
  expect(operation, `${method} ${pathname}`).toBeDefined();
  const known = operation?.parameters?.map(({ name }) => name) ?? [];
  expect([...searchParams.keys()].filter((name) => !known.includes(name) && !name.startsWith("tag."))).toEqual([]);
  const [, text = "{}"] = / -d '([^']*)'/.exec(command) ?? [];
  if (operation && text !== "{}") expect(bodyError(operation, text.replaceAll("…", "x"))).toBe("");
});

it("finds the curl commands of the documentation", () => expect(CURLS.length).toBeGreaterThan(20));

it("reaches every page by links from the README", () => {
  const reached = new Set<string>();
  const follow = (page: string): void => {
    if (reached.has(page)) return;
    reached.add(page);
    for (const [, link = ""] of read(page).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)]*)?\)/g)) {
      const target = posix.join(posix.dirname(page), link);
      if (PAGES.includes(target)) follow(target);
    }
  };
  follow("README.md");
  expect(PAGES.filter((page) => !reached.has(page))).toEqual([]);
});

const TROUBLESHOOTING = readFileSync(join(ROOT, "docs", "troubleshooting.md"), "utf8");

it("explains all error codes on the page about troubleshooting", () => {
  expect(Object.keys(ERRORS).filter((code) => !TROUBLESHOOTING.includes(`\`${code}\``))).toEqual([]);
});

/** Failures that fail the input only if an inspection finds them: later they fail an output. */
const OF_INSPECTIONS = ["input_codec_not_supported", "input_encrypted"];
it.each<[heading: string, scopes: readonly string[], others: readonly string[]]>([
  ["An input fails", ["input"], OF_INSPECTIONS],
  ["An output fails", ["output", "job"], []],
])("explains below the heading %s the codes with the scopes %j", (heading, scopes, others) => {
  const section = TROUBLESHOOTING.split(/^## /m).find((text) => text.startsWith(heading)) ?? "";
  const codes = Object.entries<ErrorTraits>(ERRORS).filter(([code]) => section.includes(`\`${code}\``));
  expect(codes.length).toBeGreaterThan(5);
  const misplaced = codes.filter(([code, { scope }]) => !scopes.includes(scope) && !others.includes(code));
  expect(misplaced.map(([code]) => code)).toEqual([]);
});
