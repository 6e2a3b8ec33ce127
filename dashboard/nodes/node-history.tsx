// Busy slots and speed of a node in the last 24 hours.
import type { NodeHistory } from "../../client/index.ts";
import { clock, short } from "../core/format.ts";
import { admin } from "../core/service.ts";
import { usePolled } from "../parts/use-resource.ts";

const POLL_MS = 60_000;
const HEIGHT = 40;

export function History({ id }: { readonly id: string }) {
  const { value } = usePolled((signal) => admin.nodes.history(id, { signal }), [id], POLL_MS);
  if (!value) return null;
  return (
    <section class="node-history" aria-label="Last 24 hours">
      <h2>Last 24 hours</h2>
      <Bars name="Busy encode slots" steps={value.steps} of={({ busy }) => busy} unit="" />
      <Bars name="Speed" steps={value.steps} of={({ speed }) => speed} unit="×" />
    </section>
  );
}

type Step = NodeHistory["steps"][number];
type BarsProps = {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly of: (step: Step) => number;
  readonly unit: string;
};

function Bars({ name, steps, of, unit }: BarsProps) {
  const most = Math.max(...steps.map(of));
  const mean = steps.reduce((sum, step) => sum + of(step), 0) / steps.length;
  const text = (value: number): string => `${short(value)}${unit}`;
  return (
    <figure>
      <figcaption>
        {name} <span class="muted">{most === 0 ? "none" : `${text(mean)} on average, ${text(most)} at most`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${steps.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {steps.map((step, at) => {
          const height = most === 0 ? 0 : (of(step) / most) * HEIGHT;
          return (
            <g key={step.at}>
              <title>{`${clock(step.at)}: ${text(of(step))}`}</title>
              <rect class="column" x={at} width="1" height={HEIGHT} />
              <rect x={at + 0.1} y={HEIGHT - height} width="0.8" height={height} />
            </g>
          );
        })}
      </svg>
      <p class="ends muted" aria-hidden="true">
        <span>24 h ago</span> <span>now</span>
      </p>
    </figure>
  );
}
