// Files that browsers play themselves, without CORS.
import type { Engine, EngineEvents } from "./engine.ts";

export function openFile(video: HTMLVideoElement, source: string | Blob, { failed }: EngineEvents): Engine {
  const url = typeof source === "string" ? source : URL.createObjectURL(source);
  const onError = (): void =>
    failed({ url, status: null, codec: typeof source !== "string", detail: video.error?.message ?? "" });
  video.addEventListener("error", onError);
  video.src = url;
  return {
    qualities: () => [],
    chooseQuality: () => undefined,
    quality: () => -1,
    captions: () => [],
    chooseCaptions: () => undefined,
    ahead: () => 0,
    close: () => {
      video.removeEventListener("error", onError);
      video.removeAttribute("src");
      video.load();
      if (typeof source !== "string") URL.revokeObjectURL(url);
    },
  };
}
