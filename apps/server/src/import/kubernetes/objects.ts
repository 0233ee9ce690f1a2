/**
 * The objects in what `kubectl get nodes,resourceslices -o json|yaml` prints: a `List`, a `NodeList` or
 * `ResourceSliceList` (items without a kind of their own, as the API server sends them), or one object.
 */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { ImportError, type RecordRef, type Source } from "../document.ts";
import { jsonOf } from "../json.ts";

export interface KubernetesObject {
  readonly ref: RecordRef;
  readonly kind: string;
  readonly apiVersion: string;
  readonly value: unknown;
}

/** YAML is slow to read, and its reader recurses. */
const YAML_BYTES_MAX = 32 * 1_048_576;

const outer = z.object({
  kind: z.string().nullish(),
  apiVersion: z.string().nullish(),
  items: z.array(z.unknown()).nullish(),
});
const inner = z.object({
  kind: z.string().nullish(),
  apiVersion: z.string().nullish(),
  metadata: z.object({ name: z.string() }).nullish().catch(null),
});

/** @throws ImportError */
export function readObjects({ file, text }: Source): KubernetesObject[] {
  const objects: KubernetesObject[] = [];
  for (const document of documentsOf(text)) {
    const whole = outer.safeParse(document);
    if (!whole.success) throw new ImportError("the file is not a Kubernetes object or list");
    const { kind, apiVersion, items } = whole.data;
    for (const value of items ?? [document]) {
      const number = objects.length + 1;
      const item = inner.safeParse(value);
      if (!item.success) throw new ImportError(`record ${number}: must be a Kubernetes object`);
      objects.push({
        ref: { file, number, name: item.data.metadata?.name.slice(0, 64) },
        kind: item.data.kind ?? kind?.replace(/List$/, "") ?? "",
        apiVersion: item.data.apiVersion ?? apiVersion ?? "",
        value,
      });
    }
  }
  return objects;
}

function documentsOf(text: string): unknown[] {
  if (/^\s*[{[]/.test(text)) return [jsonOf(text)];
  if (text.length > YAML_BYTES_MAX)
    throw new ImportError("the YAML is larger than 32 MiB: export with -o json");
  return yamlOf(text).filter((document) => document !== null);
}

/** Aliases are refused: kubectl writes none, and they are how a small file becomes a large one. */
function yamlOf(text: string): unknown[] {
  try {
    const documents = parseAllDocuments(text, { schema: "core" });
    return [...documents].map((document) => {
      const [problem] = document.errors;
      if (problem) throw problem;
      return document.toJS({ maxAliasCount: 0 }) as unknown;
    });
  } catch (error) {
    // The first line says what and where; the others draw the place.
    const line = error instanceof Error ? error.message.split("\n", 1)[0] : "?";
    throw new ImportError(`the file is not YAML: ${line}`);
  }
}
