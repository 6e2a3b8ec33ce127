import fc from "fast-check";
import { expect, it } from "vitest";
import { parseFormat } from "../../../shared/format/parse-format.ts";
import { printFormat } from "../../../shared/format/print-format.ts";
import { formatSpecs } from "../../../shared/testing/arbitrary-format.ts";
import { CONTAINER_NAMES, choicesOf, type Slot, slotOf, withContainer, withSlot } from "./slots.ts";

it.each<[string, Slot, string, string]>([
  ["mp4:720p", "size", "1080p", "mp4:1080p"],
  ["mp4", "size", "720p", "mp4:720p"],
  ["mp4:720p", "size", "", "mp4"],
  ["mp4:hevc_30fps", "size", "720p", "mp4:720p_hevc_30fps"],
  ["mp4:720p::quality=4", "rate", "2000k", "mp4:720p_2000k"],
  ["mp4:720p_2000k", "rate", "quality=3", "mp4:720p::quality=3"],
  ["mp4:720p_2000k", "rate", "quality=vmaf93", "mp4:720p::quality=vmaf93"],
  ["mp4:720p::quality=vmaf93,maxrate=900k", "rate", "2000k", "mp4:720p_2000k"],
  ["mp4:720p::quality=vmaf93,maxrate=3000k", "rate", "2000k", "mp4:720p_2000k::maxrate=3000k"],
  ["mp4:720p::quality=4,maxrate=3000k", "cap", "maxrate=900k", "mp4:720p::quality=4,maxrate=900k"],
  ["mp4:720p_2000k::maxrate=3000k", "cap", "", "mp4:720p_2000k"],
  ["mp4:720p::quality=vmaf93", "codec", "hevc", "mp4:720p_hevc::quality=vmaf93"],
  ["mp4:720p:96k_mono:quality=4,maxrate=900k", "audioRate", "128k", "mp4:720p:128k_mono:quality=4,maxrate=900k"],
  ["mp4:720p_30fps", "codec", "copy", "mp4:copy"],
  ["mp4:copy", "size", "720p", "mp4:720p"],
  ["mp4:x", "audio", "x", "mp4::x"],
  ["mp4::x", "codec", "x", "mp4:x"],
  ["mp4:720p:128k", "audio", "flac", "mp4:720p:flac"],
  ["mov:720p_2000k", "codec", "prores-ks", "mov:720p_prores-ks"],
  ["mp3:128k", "channels", "mono", "mp3:128k_mono"],
  ["jpg", "size", "320x", "jpg:320x"],
  ["jpg:320x", "rate", "quality=3", "jpg:320x::quality=3"],
  ["jpg:::quality=3", "size", "320x", "jpg:320x::quality=3"],
])("sets a slot of the format %s: %s to %j", (format, slot, text, changed) => {
  expect(withSlot(format, slot, text)).toBe(changed);
});

it.each([
  ["mp4:720p_hevc:128k::", "webm", "webm:720p:128k"],
  ["mp4:720p:128k:quality=4,vprofile=high", "webm", "webm:720p:128k:quality=4"],
  ["mp4:720p:128k:quality=vmaf93", "mkv", "mkv:720p:128k:quality=vmaf93"],
  ["mp4:720p:128k:quality=vmaf93", "wmv", "wmv:720p:128k"],
  ["mp4:720p:stereo_128k", "mp3", "mp3:128k_stereo"],
  ["mp4:720p:96k", "jpg", "jpg:720p"],
  ["jpg:640x", "gif", "gif"],
  ["mp4:240p", "gif", "gif:240p"],
  ["mp4:copy", "mkv", "mkv:copy"],
  ["mp4::x", "mp3", "mp3"],
  ["mp5:72Op_hevc", "mp4", "mp4:hevc"],
  ["mp4:720p:96k:quality=4", "jpg", "jpg:720p::quality=4"],
  ["jpg:320x::quality=4", "png", "png:320x"],
  ["jpg:320x", "mp4", "mp4:320x"],
])("changes the container of %s to %s", (format, container, changed) => {
  expect(withContainer(format, container)).toBe(changed);
});

it.each([
  ["mp4", true],
  ["webm:av1", true],
  ["wmv", false],
  ["mov:prores", false],
  ["mp4:copy", false],
])("offers a VMAF for the format %s: %s", (format, isOffered) => {
  expect((choicesOf(format).rate ?? []).includes("quality=vmaf93")).toBe(isOffered);
});

it("keeps a format valid for all choices from the lists", () => {
  const valid = (format: string): string => {
    const parsed = parseFormat(format);
    return parsed.ok ? "" : `${format}: ${parsed.error.message}`;
  };
  const steps = fc.array(fc.tuple(fc.nat(8), fc.nat(40)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom(...CONTAINER_NAMES), steps, (container, choices) => {
      let format = container;
      for (const [which, at] of choices) {
        const slots = Object.entries(choicesOf(format)) as [Slot, readonly string[]][];
        const [slot, values = []] = slots[which % (slots.length + 1)] ?? [];
        if (slot === undefined) format = withContainer(format, CONTAINER_NAMES[at % CONTAINER_NAMES.length] ?? "mp4");
        else format = withSlot(format, slot, ["", ...values][at % (values.length + 1)] ?? "");
        expect(valid(format)).toBe("");
      }
    }),
    { numRuns: 300 },
  );
});

it("reads the parts of a format, and setting them again changes nothing", () => {
  fc.assert(
    fc.property(formatSpecs, (spec) => {
      const format = printFormat(spec);
      if (!parseFormat(format).ok) return;
      const canonical = (text: string): string => {
        const parsed = parseFormat(text);
        return parsed.ok ? printFormat(parsed.value) : text;
      };
      for (const slot of Object.keys(choicesOf(format)) as Slot[]) {
        expect(canonical(withSlot(format, slot, slotOf(format, slot)))).toBe(canonical(format));
      }
    }),
    { numRuns: 500 },
  );
});
