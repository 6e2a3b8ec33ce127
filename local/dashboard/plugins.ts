// Changes of single modules in the build of the dashboard.
import type { Plugin } from "vite";

/** Replaces the module with the fields of the schemas by its values, so that pages need neither zod nor the schemas. */
export const evaluatedFields: Plugin = {
  name: "evaluated-fields",
  async load(id) {
    if (!id.endsWith("/schema-fields.ts")) return null;
    // Node would keep the module's first version.
    const { runnerImport } = await import("vite");
    const { module } = await runnerImport<{ readonly FIELDS: unknown }>(id, { configFile: false, logLevel: "silent" });
    return `export const FIELDS = JSON.parse(${JSON.stringify(JSON.stringify(module.FIELDS))});`;
  },
};

const SHADOW_ONLY = "!root.head && root.adoptedStyleSheets";

/**
 * Lets CodeMirror add its styles where the page's policy forbids style elements. style-mod 4.1.5 constructs style
 * sheets only in shadow roots. Browsers with `light-dark()` do in documents, too.
 */
export const ADOPTED_STYLES: Plugin = {
  name: "adopted-styles",
  transform(code, id) {
    if (!id.endsWith("/style-mod.js")) return null;
    if (!code.includes(SHADOW_ONLY)) throw new Error("style-mod has changed: it would add style elements");
    return code.replace(SHADOW_ONLY, "root.adoptedStyleSheets");
  },
};
