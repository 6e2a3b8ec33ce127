// The plan of the request: outputs, renditions, skipped and rejected outputs, and sizes.
import type { DryRunPlan } from "../../../client/index.ts";
import { bytes, timecode } from "../../core/format.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { focusField, type Invalid, summaryOf } from "./form-context.ts";
import type { Planned } from "./use-plan.ts";

export function PlanView({ planned, retry }: { readonly planned: Planned; readonly retry: () => void }) {
  const { plan, invalid, error, isCurrent } = planned;
  return (
    <div class="stack">
      {error !== null && error !== undefined && <Problem error={error} retry={retry} />}
      {plan === null && invalid === null && error === null && <Loading what="the plan" />}
      {plan !== null && (
        <div class="plan" aria-busy={!isCurrent}>
          {invalid !== null && <p class="muted">The plan of the last valid request:</p>}
          <OutputTable plan={plan} />
        </div>
      )}
    </div>
  );
}

type PlannedOutput = DryRunPlan["outputs"][number];

function OutputTable({ plan }: { readonly plan: DryRunPlan }) {
  return (
    <Scroll label="Planned outputs">
      <table>
        <thead>
          <tr>
            <th scope="col">Output</th>
            <th scope="col">Frame</th>
            <th scope="col" class="number">
              Size
            </th>
          </tr>
        </thead>
        <tbody>
          {plan.outputs.map((output) => (
            <OutputRows key={output.key} output={output} plan={plan} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function OutputRows({ output, plan }: { readonly output: PlannedOutput; readonly plan: DryRunPlan }) {
  const { refusals: failures } = plan;
  const refused = failures.find(({ key }) => key === output.key);
  const note = refused?.error ?? (output.skipped ? `Skipped: ${output.condition ?? "its condition is false"}` : null);
  return (
    <>
      <tr>
        <th scope="row" class="planned">
          <span>{filesOf(output)}</span>
          <span class="detail mono">{output.format}</span>
          {note !== null && (
            <span class={refused ? "status bad" : "status warn"}>
              <span aria-hidden="true">{refused ? "✕" : "⊘"}</span> {note}
            </span>
          )}
        </th>
        <td>{frameOf(output)}</td>
        <td class="number">{sizeText(output.expected_size)}</td>
      </tr>
      {output.renditions?.map(({ video, audio, width, height, fps, packages }, at) => (
        <tr key={at} class="rendition">
          <th scope="row">{video === null ? "audio only" : `${height}p`}</th>
          <td>
            {width === undefined ? "" : `${width} × ${height}, ${Number((fps ?? 0).toFixed(3))} fps`}
            {audio === null && video !== null ? ", no audio" : ""}
          </td>
          <td class="number muted">{packages.join(" + ")}</td>
        </tr>
      ))}
    </>
  );
}

function filesOf({ url, urls, path }: PlannedOutput): string {
  const count = urls?.length ?? (url === undefined ? 0 : 1);
  return path === undefined ? `Stream, ${count} playlists` : count > 1 ? `${path}, ${count} files` : path;
}

function frameOf({ spec, type }: PlannedOutput): string {
  if (type === "httpstream") return "";
  const size = (type === "image" ? spec.size : (spec.video as { size?: unknown } | null)?.size) as
    | { width: number | null; height: number | null }
    | undefined;
  if (size === undefined) return "audio";
  if (size.width === null && size.height === null) return "as the source";
  return `${size.width ?? "…"} × ${size.height ?? "…"}`;
}

const SIGNS = { bitrate: "≈ ", maxrate: "≤ ", quality: "~ " } as const;
export const sizeText = (size: PlannedOutput["expected_size"]): string =>
  size === undefined ? "–" : `${SIGNS[size.basis]}${bytes(size.bytes)}`;

/** The expected size of all outputs without images: `≈ 16 MB`. Empty if no size is known. */
export function totalOf({ outputs }: DryRunPlan): string {
  const sizes = outputs.flatMap(({ expected_size }) => expected_size?.bytes ?? []);
  return sizes.length === 0 ? "" : `≈ ${bytes(sizes.reduce((sum, size) => sum + size, 0))}`;
}

/** The number and size of the outputs for the source, or the error in the request. */
export function PlanSummary({ planned: { plan, invalid } }: { readonly planned: Planned }) {
  if (invalid !== null) return <InvalidField invalid={invalid} />;
  if (plan === null) return <p>Planning …</p>;
  const { width, height, duration, fps, audio, probe } = plan.assumed_source;
  const { length } = plan.outputs;
  const images = plan.outputs.some(({ type }) => type === "image") ? " without images" : "";
  const total = totalOf(plan);
  return (
    <p>
      <strong>
        {length} {length === 1 ? "output" : "outputs"}
        {total && `, ${total}${images}`}
      </strong>{" "}
      <span class="muted">for a source of </span>
      <span class="muted">
        {width === 0 ? "audio alone" : `${width} × ${height}, ${fps} fps`}, {timecode(duration, 0)}
        {audio ? "" : ", without audio"}
        {probe === undefined ? " (assumed)" : ""}
      </span>
    </p>
  );
}

function InvalidField({ invalid: { field, message } }: { readonly invalid: Invalid }) {
  return (
    <div class="problem">
      <div>
        <p>{field === undefined ? message : summaryOf(message)}</p>
      </div>
      {field !== undefined && (
        <button type="button" onClick={() => focusField(field)}>
          Go to the field
        </button>
      )}
    </div>
  );
}
