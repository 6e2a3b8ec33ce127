// The reason why a medium does not play, with advice.
import { CodeBlock } from "../../parts/code-block.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { Medium, Problem, Reason } from "../../player/messages.ts";
import { bucketRule } from "./bucket-rule.ts";

type Props = {
  readonly problem: Problem;
  readonly medium: Medium;
  readonly isSource: boolean;
  /** The storage section of the request. */
  readonly storage: Readonly<Record<string, unknown>> | undefined;
};

const REASONS: Readonly<Record<Reason, string>> = {
  codec: "This browser cannot decode it.",
  denied: "The storage lets nobody read it without a signature: it is private.",
  missing: "The storage no longer has it.",
  unreachable:
    "There was no response: the server does not exist or is not reachable from here, or the connection is not secure.",
  cors: "It is there, but the storage does not let web pages read it (CORS).",
  unclear: "Either this browser cannot decode it, or the storage does not let it be read.",
  other: "It does not play.",
};

export function PlayerProblem({ problem: { reason, detail }, medium, isSource, storage }: Props) {
  const rule = reason === "cors" && !isSource ? bucketRule(storage) : null;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{medium.label}</strong>: {REASONS[reason]} {adviceOf(reason, isSource, medium)}
        </p>
        {detail !== "" && <p class="detail">{detail}</p>}
        {rule && <CodeBlock label={rule.label} text={rule.text} />}
      </div>
    </div>
  );
}

function adviceOf(reason: Reason, isSource: boolean, { kind }: Medium): string {
  if (isSource) {
    if (reason === "codec" || reason === "unclear")
      return "Compare two outputs instead, or open a copy of the source that browsers play, from this computer.";
    return "Open the source from this computer instead, or compare two outputs.";
  }
  if (reason === "codec") return "Download it, or play another output.";
  if (reason === "denied") return "Players need objects that anyone may read, or signed URLs.";
  if (reason === "cors") return "Give the bucket this rule, then play again:";
  return kind === "file" && reason === "unclear" ? "Open its URL in a new tab to see which." : "";
}
