// The renditions of a stream: a table with a row for each, ready ladders, and the size that the plan expects.

import { useContext, useRef, useState } from "preact/hooks";
import { STREAM_CODECS } from "../../../shared/format/stream-codecs.ts";
import { Icon } from "../../parts/icon.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import {
  audioOf,
  formatsOf,
  LADDER_NAMES,
  LADDERS,
  ladderOf,
  moved,
  newFormat,
  variantsOf,
  withAudio,
} from "../request/ladder.ts";
import { choicesOf, slotOf, withSlot } from "../request/slots.ts";
import { Below } from "./field.tsx";
import { FormErrorsContext, useFieldError } from "./form-context.ts";
import { Choices } from "./format-slots.tsx";
import { sizeText } from "./plan-view.tsx";
import { type Drag, useDrag } from "./use-drag.ts";

/** `name`: the name of the stream in error messages. `planKey`: its key in the plan. */
export function Ladder({
  variants,
  name,
  planKey,
  set,
}: {
  readonly variants: unknown;
  readonly name: string;
  readonly planKey: string;
  readonly set: (variants: readonly string[] | undefined) => void;
}) {
  const table = useRef<HTMLTableElement>(null);
  const { invalid, plan } = useContext(FormErrorsContext);
  const field = `${name}.variants`;
  const formats = formatsOf(variants);
  const ready = ladderOf(formats);
  const planned = plan?.outputs.find(({ key }) => key === planKey);
  const change = (next: readonly string[]): void => set(variantsOf(next));
  const drag = useDrag(
    () => [...(table.current?.tBodies ?? [])],
    (from, to) => change(moved(formats, from, to)),
  );
  const move = (from: number, step: 1 | -1): void => {
    change(moved(formats, from, from + step));
    // The row keeps the focus at its new place. At an end, only the other direction is possible.
    setTimeout(() => {
      const [up, down] = table.current?.tBodies[from + step]?.querySelectorAll<HTMLButtonElement>(".move") ?? [];
      [step < 0 ? up : down, up, down].find((button) => button?.disabled === false)?.focus();
    });
  };
  return (
    <div class="ladder">
      <div class="row">
        <strong>Renditions</strong>
        <fieldset class="row" aria-label="Ready ladders">
          {LADDER_NAMES.map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={name === ready}
              title={LADDERS[name].help}
              onClick={() => change(LADDERS[name].formats)}
            >
              {LADDERS[name].label}
            </button>
          ))}
        </fieldset>
      </div>
      <Scroll label="Renditions">
        <table ref={table}>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Order</span>
              </th>
              {[...COLUMNS.map(({ title }) => title), "Audio"].map((title) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
              <th scope="col" class="number">
                Expected
              </th>
              <th scope="col">
                <span class="visually-hidden">Change</span>
              </th>
            </tr>
          </thead>
          {formats.map((format, at) => (
            <Rendition
              // Renditions have no identity: a rendition is its position in the list.
              key={at}
              at={at}
              field={`${field}.${at}`}
              format={format}
              size={planned?.renditions?.find(({ variant }) => variant === at)?.expected_size}
              count={formats.length}
              set={(next) => change(next === null ? formats.toSpliced(at, 1) : formats.with(at, next))}
              move={(step) => move(at, step)}
              drag={drag}
            />
          ))}
        </table>
      </Scroll>
      <div class="row">
        <button type="button" data-field={field} onClick={() => change([...formats, newFormat(formats)])}>
          <Icon name="add" /> Rendition
        </button>
        <span class="help">{ready === undefined ? "Players start with the first" : LADDERS[ready].help}</span>
      </div>
      {invalid?.field === field && <Below id={undefined} error={invalid.message} help={undefined} />}
    </div>
  );
}

function Rendition({
  at,
  field,
  format,
  size,
  count,
  set,
  move,
  drag,
}: {
  readonly at: number;
  readonly field: string;
  readonly format: string;
  readonly size: Parameters<typeof sizeText>[0];
  readonly count: number;
  readonly set: (format: string | null) => void;
  readonly move: (step: 1 | -1) => void;
  readonly drag: Drag;
}) {
  const [isText, setText] = useState(false);
  const error = useFieldError(field);
  const choices = choicesOf(format);
  const label = (part: string): string => `${part} of rendition ${at + 1}`;
  return (
    <tbody class={drag.rowClass(at)}>
      <tr>
        <td class="moves">
          {/* Not for the keyboard, which has the buttons. */}
          <span class="handle" aria-hidden="true" onPointerDown={(event) => drag.start(at, event)}>
            <Icon name="grip" />
          </span>
          <button
            type="button"
            class="quiet move"
            disabled={at === 0}
            aria-label={label("Move up: place")}
            onClick={() => move(-1)}
          >
            <Icon name="up" />
          </button>
          <button
            type="button"
            class="quiet move"
            disabled={at === count - 1}
            aria-label={label("Move down: place")}
            onClick={() => move(1)}
          >
            <Icon name="down" />
          </button>
        </td>
        {COLUMNS.map(({ title, slot, none }) => (
          <td key={slot} data-title={title}>
            {choices[slot] !== undefined && (
              <Choices
                label={label(title)}
                none={none}
                value={slotOf(format, slot)}
                values={slot === "codec" ? CODECS : choices[slot]}
                choose={(text) => set(withSlot(format, slot, text))}
              />
            )}
          </td>
        ))}
        <td data-title="Audio">
          <Choices
            label={label("Audio")}
            none="automatic"
            value={audioOf(format)}
            values={AUDIO}
            choose={(text) => set(withAudio(format, text))}
          />
        </td>
        <td class="number" data-title="Expected">
          {sizeText(size)}
        </td>
        <td class="actions">
          <button
            type="button"
            class="quiet"
            aria-label={label("Text")}
            aria-expanded={isText}
            onClick={() => setText(!isText)}
          >
            <Icon name="edit" />
          </button>
          <button type="button" class="quiet" aria-label={`Remove rendition ${at + 1}`} onClick={() => set(null)}>
            <Icon name="trash" />
          </button>
        </td>
      </tr>
      {(isText || error !== undefined) && (
        <tr>
          <td />
          <td colSpan={7}>
            <input
              class="mono"
              data-field={field}
              aria-label={label("Format")}
              aria-invalid={error === undefined ? undefined : true}
              spellcheck={false}
              autocomplete="off"
              value={format}
              // The text stays after a correction, while it has the focus.
              onFocus={() => setText(true)}
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
            <Below id={undefined} error={error} help={undefined} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** The codecs that streams support, besides the default. */
const CODECS = [...STREAM_CODECS.video.slice(1), "x"];
const AUDIO = [
  ...["48k", "64k", "96k", "128k", "160k", "192k"],
  ...["opus_64k", "opus_96k", "opus_128k", "ac3_192k", "ac3_384k", "flac", "copy", "x"],
];
const COLUMNS = [
  { title: "Height", slot: "size", none: "source" },
  { title: "Video", slot: "codec", none: "h264" },
  { title: "Rate", slot: "rate", none: "automatic" },
  { title: "Cap", slot: "cap", none: "none" },
] as const;
