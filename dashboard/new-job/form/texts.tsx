// The request in other forms: commands and programs to copy.
import { useContext } from "preact/hooks";
import { shellCommand } from "../../../shared/shell-quote.ts";
import { url } from "../../core/service.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type Tab, Tabs } from "../../parts/tabs.tsx";
import { JsonEditor } from "../json/json-editor.tsx";
import { printCli, printCurl, printJson, printTypeScript } from "../request/print.ts";
import { type Json, masked, unmasked } from "../secrets.ts";
import { FormErrorsContext } from "./form-context.ts";
import { PlanView } from "./plan-view.tsx";
import type { Planned } from "./use-plan.ts";

export type TextName = "plan" | "json" | "curl" | "typescript" | "cli" | "ffmpeg";
const TABS: readonly Tab<TextName>[] = [
  { name: "plan", label: "Plan" },
  { name: "json", label: "JSON" },
  { name: "curl", label: "curl" },
  { name: "typescript", label: "TypeScript" },
  { name: "cli", label: "CLI" },
  { name: "ffmpeg", label: "ffmpeg" },
];

export function Texts({
  chosen,
  choose,
  request,
  set,
  planned,
  retry,
  send,
  file,
}: {
  readonly chosen: TextName;
  readonly choose: (name: TextName) => void;
  readonly request: Json;
  readonly set: (request: Json) => void;
  readonly planned: Planned;
  readonly retry: () => void;
  readonly send: () => void;
  /** The name of the uploaded file. */
  readonly file: string | null;
}) {
  const { invalid } = useContext(FormErrorsContext);
  const view = (): preact.JSX.Element => {
    switch (chosen) {
      case "plan":
        return <PlanView planned={planned} retry={retry} />;
      case "json":
        return (
          <JsonEditor
            label="Body of POST /v2/jobs"
            shown={masked(request)}
            set={(edited) => edited && set(unmasked(edited, request))}
            send={send}
            invalid={invalid}
            help="Edit it: the form follows. Secrets are hidden, and kept unless you replace them. Ctrl Enter or ⌘ Enter sends the job."
          >
            <CopyButton text={() => printJson(request)} />
          </JsonEditor>
        );
      case "curl":
        return <CodeBlock label="curl" text={printCurl(request, url)} />;
      case "typescript":
        return <CodeBlock label="TypeScript, with @copra/client" text={printTypeScript(request, url)} />;
      case "cli":
        return <CodeBlock label="Command line" text={printCli(request, file)} />;
      case "ffmpeg":
        return <Commands planned={planned} />;
    }
  };
  return (
    <Tabs tabs={TABS} chosen={chosen} choose={choose} label="The request">
      {view()}
    </Tabs>
  );
}

function Commands({ planned: { plan } }: { readonly planned: Planned }) {
  if (plan === null || plan.commands.length === 0) {
    return <p class="muted">There are no commands, because there is no plan with outputs.</p>;
  }
  return (
    <div class="stack">
      <p class="muted">The commands of a node for such a source. A node may use another encoder, such as its GPU's.</p>
      {plan.commands.map(({ outputs, argv }) => (
        <CodeBlock key={argv.join(" ")} label={outputs.join(", ")} text={shellCommand(argv)} wrap />
      ))}
    </div>
  );
}
