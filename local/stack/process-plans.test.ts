import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { it } from "../../test/fixtures.ts";
import { LOCAL_SERVICE, serviceOf } from "../home/service-settings.ts";
import { controlPlanePlan, s3Plan } from "./process-plans.ts";

it("gives the control plane its settings by a file descriptor, and no process a secret by its environment", ({
  folder: home,
}) => {
  const service = { ...LOCAL_SERVICE, variables: { METRICS_TOKEN: "the-metrics-token" } };
  const settings = { home, port: 1, s3Port: 2, nodes: 0, logsToStderr: true, service };
  const [plan, s3] = [controlPlanePlan(settings), s3Plan(settings)];
  for (const { env, argv } of [plan, s3]) expect(JSON.stringify([env, argv])).not.toContain("the-metrics-token");
  writeFileSync(join(home, "pipe"), plan.secret?.text ?? "");
  const fd = openSync(join(home, "pipe"), "r");
  expect(serviceOf({ ...plan.env, [plan.secret?.variable ?? ""]: String(fd) })).toEqual(service);
  expect(serviceOf(s3.env).variables).toEqual({});
  closeSync(fd);
});
