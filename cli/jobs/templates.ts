// copra templates.
import * as z from "zod";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { readJsonOption } from "../encode/job-request.ts";
import { usageError } from "../exit.ts";
import { printableJson } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listTemplates: Run = async (context) => {
  const { output, signal, copra } = await clientOf(context);
  const templates = await copra.templates.list({ signal });
  output.data({ templates }, () =>
    table([
      ["TEMPLATE", "VERSION", "STORED"].map(output.colors.bold),
      ...templates.map(({ name, version, created_at }) => [name, String(version), created_at]),
    ]),
  );
};

/** Prints the body alone, also with `--json`: `templates put` reads it. */
export const showTemplate: Run = async (context, [name = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const template = await copra.templates.get(name, { signal });
  output.data(template.template, () => printableJson(template.template, 2));
  output.words(`${template.name}@${template.version}; variables: ${template.variables.join(", ") || "none"}`);
  if (template.left_out.length > 0) output.words(`Left out, because it is secret: ${template.left_out.join(", ")}`);
};

const Body = z.record(z.string(), z.unknown());

export const putTemplate: Run = async (context, [name = "", file = "-"], options) => {
  const { output, signal } = context;
  const body = readJsonOption(file, Body, "a template: an object with sections of a job");
  const version = textOption(options, "ifVersion");
  if (version !== undefined && !/^\d{1,9}$/.test(version)) {
    throw usageError(`--if-version must be a whole number, not "${version}"`);
  }
  const { copra } = await clientOf(context);
  const stored = await copra.templates.put(name, body, {
    signal,
    keepSecrets: options.keepSecrets === true ? true : undefined,
    ifVersion: version === undefined ? undefined : Number(version),
  });
  output.data(stored, () => `${stored.name}@${stored.version}`);
};

export const deleteTemplates: Run = async (context, names) => {
  const { output, signal, copra } = await clientOf(context);
  for (const name of names) await copra.templates.delete(name, { signal });
  output.data({ deleted: names }, () => names.join("\n"));
};

export const createToken: Run = async (context, [name = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const created = await copra.templates.createToken(name, { signal });
  output.data(created, () => created.url);
  output.words(`Store the URL now: it is not shown again. The token has the id ${created.id}`);
};

export const listTokens: Run = async (context, [name = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const tokens = await copra.templates.tokens(name, { signal });
  output.data({ tokens }, () =>
    table([["TOKEN", "CREATED"].map(output.colors.bold), ...tokens.map(({ id, created_at }) => [id, created_at])]),
  );
};

export const revokeToken: Run = async (context, [name = "", id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  output.data(await copra.templates.deleteToken(name, id, { signal }), () => id);
};
