// The player among the outputs, and the choice of media to compare.
import { useMemo, useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Select } from "../../parts/controls/select.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { Opening, Problem } from "../../player/messages.ts";
import { PlayerFrame } from "../../player/player-frame.tsx";
import { isSource, localSource, type Playable } from "./playable.ts";
import { PlayerProblem } from "./player-problem.tsx";

type Chosen = { readonly first?: Playable; readonly last?: Playable };

type Props = {
  /** The medium that is compared with `last`; null: not chosen yet. */
  readonly first: Playable | null;
  readonly last: Playable;
  readonly compares: boolean;
  readonly choices: readonly Playable[];
  /** The storage section of the request. */
  readonly storage: Readonly<Record<string, unknown>> | undefined;
  readonly choose: (next: Chosen) => void;
  readonly close: () => void;
};

export function Player({ first, last, compares, choices, storage, choose, close }: Props) {
  const played = useMemo(() => (compares && first ? [first, last] : [last]), [first, last, compares]);
  const opening = useMemo<Opening>(
    () => ({ media: played.map(({ medium }) => medium), thumbnails: last.thumbnails }),
    [played],
  );
  const [reported, setReported] = useState<{ of: Opening; problems: readonly Problem[] }>();
  const problems = reported?.of === opening ? reported.problems : [];
  const title = compares && first ? `${first.medium.label} and ${last.medium.label}` : last.medium.label;
  return (
    <div class="stack tight section">
      <div class="row">
        {compares ? (
          <>
            <Choice label="A" chosen={first} choices={choices} choose={(next) => choose({ first: next })} />
            <Choice label="B" chosen={last} choices={choices} choose={(next) => choose({ last: next })} />
            <LocalFile choose={(next) => choose({ first: next })} />
          </>
        ) : (
          <h3>{title}</h3>
        )}
        <span class="spring" />
        <Button icon="close" text="Close" of="the player" class="quiet" onClick={close} />
      </div>
      {compares && !first && (
        <p class="notice">Compare it with another output, or with the source from this computer.</p>
      )}
      {problems.map((problem) => {
        const at = played[problem.medium];
        return (
          at && (
            <PlayerProblem
              key={`${problem.medium} ${problem.reason}`}
              problem={problem}
              medium={at.medium}
              isSource={isSource(at)}
              storage={storage}
            />
          )
        );
      })}
      <div class={problems.length < played.length ? "player-box" : "player-box failed"}>
        <PlayerFrame
          opening={opening}
          title={`Player: ${title}`}
          close={close}
          onProblem={(problem) =>
            setReported((before) => ({
              of: opening,
              problems: [...(before?.of === opening ? before.problems : []), problem],
            }))
          }
        />
      </div>
    </div>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly chosen: Playable | null;
  readonly choices: readonly Playable[];
  readonly choose: (playable: Playable) => void;
};

function Choice({ label, chosen, choices, choose }: ChoiceProps) {
  // A file on this computer is not among the outputs.
  const all = chosen && !choices.some(({ id }) => id === chosen.id) ? [...choices, chosen] : choices;
  return (
    <div class="row">
      <b>{label}</b>
      <Select
        label={`${label} of the comparison`}
        options={{ ...(chosen ? {} : { "": "Choose …" }), ...Object.fromEntries(all.map(optionOf)) }}
        value={chosen?.id ?? ""}
        choose={(wanted) => {
          const playable = all.find(({ id }) => id === wanted);
          if (playable) choose(playable);
        }}
      />
    </div>
  );
}

const optionOf = ({ id, medium: { label, kind } }: Playable): [id: string, text: string] => [
  id,
  kind === "file" ? label : `${label} (${kind.toUpperCase()})`,
];

/** The file stays on this computer: the player reads it from the disk. */
function LocalFile({ choose }: { readonly choose: (playable: Playable) => void }) {
  return (
    <label class="button local-file">
      <Icon name="upload" /> Source from this computer
      <input
        type="file"
        accept="video/*,audio/*"
        class="visually-hidden"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) choose(localSource(file));
        }}
      />
    </label>
  );
}
