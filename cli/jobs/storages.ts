// copra storages.
import * as z from "zod";
import type { Storage } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { readJsonOption } from "../encode/job-request.ts";
import { EXIT } from "../exit.ts";
import { printableJson } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listStorages: Run = async (context) => {
  const { output, signal, copra } = await clientOf(context);
  const storages = await copra.storages.list({ signal });
  output.data({ storages }, () =>
    table([
      ["STORAGE", "STORED"].map(output.colors.bold),
      ...storages.map(({ name, created_at }) => [name, created_at]),
    ]),
  );
};

export const showStorage: Run = async (context, [name = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const { storage } = await copra.storages.get(name, { signal });
  output.data(storage, () => printableJson(storage, 2));
};

export const putStorage: Run = async (context, [name = "", file = "-"]) => {
  const { output, signal } = context;
  const body = readJsonOption(file, z.record(z.string(), z.unknown()), "a storage: an object");
  const { copra } = await clientOf(context);
  // The service validates the storage.
  const stored = await copra.storages.put(name, body as Storage, { signal });
  output.data(stored, () => stored.name);
};

export const deleteStorages: Run = async (context, names) => {
  const { output, signal, copra } = await clientOf(context);
  for (const name of names) await copra.storages.delete(name, { signal });
  output.data({ deleted: names }, () => names.join("\n"));
};

/** Fails if a step fails. */
export const testStorage: Run = async (context, [name = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const result = await copra.storages.test(name, { signal });
  output.data(result, () => table(result.steps.map(({ step, status, error = "" }) => [step, status, error])));
  return result.steps.some(({ status }) => status === "failed") ? EXIT.failed : EXIT.done;
};
