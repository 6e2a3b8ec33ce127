// copra doctor: what this machine has and lacks, and whether the service is reachable.
import type { Run } from "../command-spec.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { machineChecks } from "./machine-checks.ts";
import { serviceChecks } from "./service-checks.ts";

export const doctor: Run = async (context) => {
  const { output } = context;
  const checks = [...(await machineChecks(context.env, context.signal)), ...(await serviceChecks(context))];
  const { green, yellow, red } = output.colors;
  const marks = { ok: green("ok"), missing: yellow("missing"), failed: red("failed") };
  output.data({ checks }, () =>
    table(
      checks.map(({ name, result, detail, advice }) => [
        marks[result],
        name,
        printable(advice === undefined ? detail : `${detail}. ${advice}`),
      ]),
    ),
  );
  return checks.some(({ result }) => result === "failed") ? EXIT.failed : EXIT.done;
};
