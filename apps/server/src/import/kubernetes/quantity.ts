/**
 * Kubernetes quantities: a decimal number and a suffix, binary (`Ki`), decimal (`k`, `m`) or an exponent
 * (`e3`). The grammar is that of k8s.io/apimachinery `pkg/api/resource/quantity.go`.
 */

const QUANTITY =
  /^(\+?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;

const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};

/** The number that it stands for; null when it is none, or negative. */
export function parseQuantity(value: string | number): number | null {
  const [, digits, suffix] = QUANTITY.exec(String(value)) ?? [];
  if (digits === undefined) return null;
  const number = Number(digits);
  if (suffix === undefined) return number;
  const power = BINARY.indexOf(suffix);
  if (power >= 0) return number * 1_024 ** (power + 1);
  const factor = DECIMAL[suffix] ?? Number(`1${suffix}`);
  // Thousandths are divided, not multiplied: 3 * 0.001 is not 0.003.
  const amount = factor < 1 ? number / Math.round(1 / factor) : number * factor;
  return Number.isFinite(amount) ? amount : null;
}
