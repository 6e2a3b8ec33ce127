import type { Autoscale } from "../../client/index.ts";
import { count, duration } from "../core/format.ts";
import { Card } from "../parts/card.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { backlogSeconds } from "./fleet.ts";

type Demanded = { readonly pool: string; readonly slots: "encode" | "inspect"; readonly demand: Autoscale["encode"] };

/** The tasks that run and wait, by pool, as autoscalers read them. */
export function Demand({ demand: { pools } }: { readonly demand: Autoscale }) {
  const rows = Object.entries(pools).flatMap(([pool, demands]) =>
    (["encode", "inspect"] as const).map((slots): Demanded => ({ pool, slots, demand: demands[slots] })),
  );
  if (rows.length === 0) return null;
  return (
    <Card
      title="Demand"
      class="demand"
      actions={<span class="muted">The response of GET /v2/autoscale for an autoscaler</span>}
    >
      <Table label="Demand by pool" columns={COLUMNS} rows={rows} keyOf={({ pool, slots }) => `${pool} ${slots}`} />
    </Card>
  );
}

const COLUMNS: readonly Column<Demanded>[] = [
  ["Pool", ({ pool }) => pool, "head"],
  ["Tasks", ({ slots }) => slots],
  ["Slots wanted", ({ demand }) => count(demand.wanted), "number"],
  ["Run", ({ demand }) => count(demand.running), "number"],
  ["Wait", ({ demand }) => count(demand.waiting), "number"],
  ["Free slots", ({ demand }) => count(demand.free), "number"],
  ["Oldest waits", ({ demand }) => (demand.waiting === 0 ? "–" : duration(demand.oldest_wait_seconds)), "number"],
  ["A task takes", ({ demand }) => duration(demand.mean_task_seconds || null), "number"],
  ["Until nothing waits", ({ demand }) => backlogText(backlogSeconds(demand)), "number"],
];

const backlogText = (seconds: number | null): string =>
  seconds === 0 ? "–" : seconds === null ? "no slots" : `about ${duration(seconds)}`;
