/** Counts of GPUs in words, and the model's name short. */

/** `1 GPU`, `16 GPUs`. */
export function gpusText(count: number): string {
  return `${number(count)} ${count === 1 ? "GPU" : "GPUs"}`;
}

/** `1 node`, `3 nodes`: the plural is the noun with an s. */
export function countText(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Thousands apart: `8,000`. */
export function number(count: number): string {
  // Most counts have no thousands, and a formatter costs more than all the rest of a bar.
  const isSmall = Number.isInteger(count) && count >= 0 && count < 1_000;
  return isSmall ? String(count) : count.toLocaleString("en-GB");
}

/** A model without its maker's preamble: `NVIDIA-H100-80GB-HBM3` is `H100 80GB HBM3`. */
export function modelText(model: string | null): string {
  if (model === null || model === "") return "no model";
  return model.replace(/^(?:NVIDIA|Tesla|AMD)[-\s]/i, "").replaceAll("-", " ");
}
