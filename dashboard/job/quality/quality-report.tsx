// The measured quality of an output: figures, VMAF over time, and a table of the same values.
import { useState } from "preact/hooks";
import type { MeasuredRendition, QualityMetadata } from "../../../client/index.ts";
import { timecode } from "../../core/format.ts";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import "./quality.css";
import { type Bar, barsOf, levelOf, worstOf } from "./strip.ts";
import { targetTexts } from "./target.ts";

/** The height of the drawing, which is stretched to the width of the page. */
const HEIGHT = 40;

export function QualityReport({ quality, name }: { readonly quality: QualityMetadata; readonly name: string }) {
  const { renditions = [], target = [], error } = quality;
  return (
    <>
      {targetTexts(target).map((text) => (
        <p key={text} class="detail">
          {text}
        </p>
      ))}
      {renditions.map((rendition) => (
        <Rendition key={rendition.track} rendition={rendition} name={name} />
      ))}
      {error !== undefined && <p class="detail">The quality was not measured: {error}</p>}
    </>
  );
}

const decimals = (value: number, digits: number): string => value.toFixed(digits);

function Rendition({ rendition, name }: { readonly rendition: MeasuredRendition; readonly name: string }) {
  const { track, vmaf, psnr, ssim, every, series } = rendition;
  const figures: readonly Fact[] = [
    ["Rendition", track !== "video" && <span class="mono">{track}</span>],
    ["VMAF", decimals(vmaf.mean, 1)],
    ["1 % of the frames below", decimals(vmaf.percentile_1, 1)],
    ["Worst frame", decimals(vmaf.min, 1)],
    ["PSNR", `${decimals(psnr.mean, 1)} dB`],
    ["SSIM", decimals(ssim.mean, 4)],
    ["Measured", every > 1 && `one of ${every} frames`],
  ];
  const title = track === "video" ? name : `${name} ${track}`;
  return (
    <section class="quality" aria-label={`Quality of ${title}`}>
      <Facts look="figures" facts={figures} />
      {series && series.vmaf.length > 1 && <Series series={series} title={title} />}
    </section>
  );
}

type Given = { readonly series: NonNullable<MeasuredRendition["series"]>; readonly title: string };

function Series({ series, title }: Given) {
  const [isOpen, open] = useState(false);
  const bars = barsOf(series);
  const worst = worstOf(bars);
  const text = worst ? `worst at ${timecode(worst.from, 0)}: ${decimals(worst.vmaf, 1)}` : "nothing was measured";
  return (
    <>
      <svg
        class="quality-strip"
        viewBox={`0 0 ${bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`VMAF of ${title} over its length, ${text}`}
      >
        {bars.map((bar, at) => (
          <Shape key={bar.from} bar={bar} at={at} />
        ))}
      </svg>
      <details onToggle={(event) => open(event.currentTarget.open)}>
        <summary>VMAF over time, {text}</summary>
        {isOpen && <SeriesTable series={series} title={title} />}
      </details>
    </>
  );
}

function Shape({ bar: { from, to, vmaf }, at }: { readonly bar: Bar; readonly at: number }) {
  if (vmaf === null) return null;
  // At least 1, so that frames with a VMAF of 0 are visible, too.
  const height = Math.max(1, (vmaf / 100) * HEIGHT);
  return (
    <rect class={levelOf(vmaf)} x={at} y={HEIGHT - height} width={0.9} height={height}>
      <title>{`${timecode(from, 0)} to ${timecode(to, 0)}: ${decimals(vmaf, 1)}`}</title>
    </rect>
  );
}

function SeriesTable({ series: { interval_seconds, vmaf, psnr, ssim }, title }: Given) {
  const cell = (value: number | null | undefined, digits: number): string =>
    value === null || value === undefined ? "–" : decimals(value, digits);
  const columns: readonly Column<number>[] = [
    ["From", (at) => timecode(at * interval_seconds, 0), "head"],
    ["VMAF", (at) => cell(vmaf[at], 1), "number"],
    ["PSNR, dB", (at) => cell(psnr[at], 1), "number"],
    ["SSIM", (at) => cell(ssim[at], 4), "number"],
  ];
  return <Table label={`Quality of ${title} over time`} columns={columns} rows={[...vmaf.keys()]} keyOf={(at) => at} />;
}
