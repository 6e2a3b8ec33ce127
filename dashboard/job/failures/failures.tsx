// The reasons why a job or some of its outputs failed, with advice.
import type { Job } from "../../../client/index.ts";
import { Icon } from "../../parts/icon.tsx";
import { adviceFor } from "./advice.ts";

type Failure = { readonly what: string; readonly error: string; readonly code: string | undefined };

/** The status of a canceled job shows its reason. */
function failuresOf({ input, outputs }: Job): Failure[] {
  const ofInput = input.error === undefined ? [] : [{ what: "The input", error: input.error, code: input.error_code }];
  return [
    ...ofInput,
    ...outputs.flatMap(({ key, error, error_code }) =>
      // Without an input, the outputs fail for the same reason.
      error === undefined || error_code === "cancelled" || (ofInput.length > 0 && error_code === input.error_code)
        ? []
        : [{ what: key, error, code: error_code }],
    ),
  ];
}

/** Groups failures with the same reason, so that each reason is shown once. */
function grouped(failures: readonly Failure[]): (Failure & { readonly whats: readonly string[] })[] {
  const groups = new Map<string, Failure & { whats: string[] }>();
  for (const failure of failures) {
    const key = `${failure.code} ${failure.error}`;
    const group = groups.get(key) ?? { ...failure, whats: [] };
    group.whats.push(failure.what);
    groups.set(key, group);
  }
  return [...groups.values()];
}

export function Failures({ job }: { readonly job: Job }) {
  const groups = grouped(failuresOf(job));
  if (groups.length === 0) return null;
  return (
    <section class="failures stack" aria-label="Failures">
      {groups.map(({ whats, error, code }) => (
        <div class="problem" key={`${code} ${error}`}>
          <Icon name="warning" />
          <div>
            <p>
              <strong>{whats.join(", ")}</strong>: {error}
            </p>
            <p>{adviceFor(code).text}</p>
            {code !== undefined && <p class="detail mono">{code}</p>}
          </div>
        </div>
      ))}
    </section>
  );
}
