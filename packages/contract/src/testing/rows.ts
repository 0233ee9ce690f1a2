/** Rows that come with a kind of field: what every string, integer, id or choice must refuse. */
import type { MethodName } from "../contract.ts";
import { ABSENT } from "./boundary.ts";
import type { Boundary } from "./boundary.ts";

/** 2^47. */
export const TIME_MAX = 140_737_488_355_328;
const DURATION =
  "^(?:P(?=\\d|T\\d)(?:\\d+W)?(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)?|(?:\\d+(?:ms|s|m|h|d|w))+)$";

export interface Place {
  readonly method: MethodName;
  readonly field: string;
}

export function at(method: MethodName, field: string): Place {
  return { method, field };
}

/** `undefined`: an entry of a list, which is neither. */
type Required = boolean | undefined;

function presence(place: Place, required: Required, good: unknown): Boundary[] {
  if (required === undefined) return [];
  return required
    ? [{ ...place, constraint: "required", accepts: [good], refuses: [ABSENT] }]
    : [{ ...place, constraint: "optional", accepts: [ABSENT], refuses: [] }];
}

const NOT_TEXT = [1, true, null, {}, []];
const TEXT_PATTERN = "^[^\\p{Cc}\\p{Cs}]*$";

export interface Word {
  readonly required?: boolean;
  readonly max: number;
  readonly pattern: string;
  readonly accepts: readonly string[];
  readonly refuses: readonly string[];
}

/** A string of a fixed alphabet. */
export function word(place: Place, rule: Word): Boundary[] {
  const [good = ""] = rule.accepts;
  return [
    ...presence(place, rule.required ?? false, good),
    { ...place, constraint: "string", accepts: [good], refuses: NOT_TEXT },
    {
      ...place,
      constraint: `at most ${rule.max} characters`,
      accepts: ["a".repeat(rule.max)],
      refuses: ["a".repeat(rule.max + 1)],
    },
    {
      ...place,
      constraint: `matches ${rule.pattern}`,
      accepts: rule.accepts,
      refuses: [...rule.refuses, `${good}\n`, `\n${good}`],
    },
  ];
}

/** A tenant id; always required. */
export function tenant(place: Place): Boundary[] {
  return word(place, {
    required: true,
    max: 128,
    pattern: "^[A-Za-z0-9._:-]{1,128}$",
    accepts: ["a", "Az09._:-", "a".repeat(128)],
    refuses: ["", " ", "a b", "a/b", "a~b", "a@b", "é", "a\u0000"],
  });
}

/** An id with a prefix: 26 to 52 characters after it. */
export function ident(place: Place, prefix: string, required: Required): Boundary[] {
  const longest = prefix.length + 53;
  const of = (body: string): string => `${prefix}_${body}`;
  const rows: Boundary[] = [
    {
      ...place,
      constraint: `at most ${longest} characters`,
      accepts: [of("z".repeat(52))],
      refuses: [of("z".repeat(53))],
    },
    {
      ...place,
      constraint: `matches ^${prefix}_[0-9a-hjkmnp-tv-z]{26,52}$`,
      accepts: [of("0".repeat(26)), of("0123456789abcdefghjkmnpqrstvwxyz"), of("9".repeat(52))],
      refuses: [
        "",
        of("0".repeat(25)),
        of("A".repeat(26)),
        ...["i", "l", "o", "u", "-", "_"].map((bad) => of(`${"0".repeat(25)}${bad}`)),
        `x${of("0".repeat(26))}`,
        "0".repeat(31),
        `${prefix.toUpperCase()}_${"0".repeat(26)}`,
        `${of("0".repeat(26))}\n`,
      ],
    },
  ];
  if (required === undefined) return rows;
  const good = of("0".repeat(26));
  return [
    ...presence(place, required, good),
    { ...place, constraint: "string", accepts: [good], refuses: NOT_TEXT },
    ...rows,
  ];
}

/** An integer in [min, max]; no max: any exact integer. */
export function int(
  place: Place,
  [min, max]: readonly [number, number | undefined],
  required: Required,
): Boundary[] {
  const top = max ?? Number.MAX_SAFE_INTEGER;
  return [
    ...presence(place, required, min),
    {
      ...place,
      constraint: "integer",
      accepts: [min],
      refuses: [String(min), min + 0.5, true, null, {}, []],
    },
    {
      ...place,
      constraint: max === undefined ? `at least ${min}` : `${min}-${max}`,
      accepts: [min, top],
      refuses: [min - 1, top + 1],
    },
  ];
}

export function oneOf(place: Place, values: readonly string[], required: Required): Boundary[] {
  const [good = ""] = values;
  return [
    ...presence(place, required, good),
    {
      ...place,
      constraint: `one of ${values.join(", ")}`,
      accepts: values,
      refuses: ["", good.toUpperCase(), `${good} `, 1, null, [good]],
    },
  ];
}

export function bool(place: Place, required: Required): Boundary[] {
  return [
    ...presence(place, required, true),
    { ...place, constraint: "boolean", accepts: [true, false], refuses: ["true", 1, 0, null, {}] },
  ];
}

/** An object that refuses what it does not know. */
export function object(place: Place, good: object, required: Required): Boundary[] {
  return [
    ...presence(place, required, good),
    { ...place, constraint: "object", accepts: [good], refuses: ["x", 1, true, null, []] },
    {
      ...place,
      constraint: "no other field",
      accepts: [good],
      refuses: [{ ...good, somethingElse: 1 }],
      beyond: true,
    },
  ];
}

/** Text for people, of [min, max] characters. */
export function texts(
  place: Place,
  [min, max]: readonly [number, number],
  required: Required,
): Boundary[] {
  return [
    ...presence(place, required, "a"),
    { ...place, constraint: "string", accepts: ["a"], refuses: NOT_TEXT },
    ...textRules(place, [min, max]),
  ];
}

function textRules(place: Place, [min, max]: readonly [number, number]): Boundary[] {
  return [
    ...(min > 0
      ? [
          {
            ...place,
            constraint: `at least ${min} characters`,
            accepts: ["a".repeat(min)],
            refuses: [""],
          },
        ]
      : []),
    {
      ...place,
      constraint: `at most ${max} characters`,
      accepts: ["a".repeat(max), "😀".repeat(max), ...(min === 0 ? [""] : [])],
      refuses: ["a".repeat(max + 1), "😀".repeat(max + 1)],
    },
    {
      ...place,
      constraint: `matches ${TEXT_PATTERN}`,
      accepts: ["Rack 7, Zürich", "機架", "😀"],
      refuses: ["a\u0000", "a\nb", "\u007f", "\u0085", "\ud800"],
    },
    {
      ...place,
      constraint: "Unicode form NFC",
      accepts: ["\u00fc"],
      refuses: ["u\u0308"],
      beyond: true,
    },
  ];
}

/** A map of texts; keys of 1 to `keys` characters. */
export function members(
  place: Place,
  rule: { readonly keys: number; readonly values: number; readonly max: number },
): Boundary[] {
  const values: Place = { ...place, field: `${place.field}.*` };
  return [
    ...presence(place, false, {}),
    {
      ...place,
      constraint: "map of string",
      accepts: [{ a: "b" }],
      refuses: ["x", 1, [], null, { a: 1 }],
    },
    {
      ...place,
      constraint: "keys at least 1 characters",
      accepts: [{ a: "b" }],
      refuses: [{ "": "b" }],
    },
    {
      ...place,
      constraint: `keys at most ${rule.keys} characters`,
      accepts: [{ ["a".repeat(rule.keys)]: "b" }],
      refuses: [{ ["a".repeat(rule.keys + 1)]: "b" }],
    },
    {
      ...place,
      constraint: `keys match ${TEXT_PATTERN}`,
      accepts: [{ "topology/rack": "b" }],
      refuses: [{ "a\u0000": "b" }, { "a\nb": "b" }],
    },
    {
      ...place,
      constraint: `at most ${rule.max} keys`,
      accepts: [keyed(rule.max, "v")],
      refuses: [keyed(rule.max + 1, "v")],
    },
    { ...values, constraint: "string", accepts: ["a"], refuses: NOT_TEXT },
    ...textRules(values, [0, rule.values]),
  ];
}

/** A quota map. */
export function quotaMap(place: Place, required: boolean): Boundary[] {
  return [
    ...presence(place, required, { gpu: 8 }),
    {
      ...place,
      constraint: "map of integer",
      accepts: [{ gpu: 8 }],
      refuses: ["x", 1, [], null, { gpu: "8" }],
    },
    {
      ...place,
      constraint: "keys at most 64 characters",
      accepts: [{ ["a".repeat(64)]: 1 }],
      refuses: [{ ["a".repeat(65)]: 1 }],
    },
    {
      ...place,
      constraint: "keys match ^[A-Za-z][A-Za-z0-9._-]{0,63}$",
      accepts: [{ gpu: 1, "nic.vf": 1, "A_b-9": 1 }],
      refuses: [{ "": 1 }, { "9a": 1 }, { ".a": 1 }, { "a b": 1 }, { "a/b": 1 }, { "gpu\n": 1 }],
    },
    {
      ...place,
      constraint: "at most 32 keys",
      accepts: [keyed(32, 1)],
      refuses: [keyed(33, 1)],
    },
    ...int({ ...place, field: `${place.field}.*` }, [0, 2_147_483_647], undefined),
  ];
}

function keyed(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
}

/** A duration: text in one of two forms, or milliseconds. */
export function durations(place: Place): Boundary[] {
  return [
    {
      ...place,
      constraint: "string,integer",
      accepts: ["1h", 1_000],
      refuses: [true, null, {}, [], 1_000.5],
    },
    {
      ...place,
      constraint: "string: at most 64 characters",
      accepts: [`${"0".repeat(61)}10s`],
      refuses: [`${"0".repeat(62)}10s`],
    },
    {
      ...place,
      constraint: `string: matches ${DURATION}`,
      accepts: [
        "90m",
        "2h30m",
        "7d",
        "1w",
        "1500ms",
        "45s",
        "PT90M",
        "P7D",
        "P2W",
        "P1DT12H",
        "PT1H30M5S",
      ],
      refuses: [
        "",
        "1",
        "h",
        "1y",
        "1.5h",
        "-1h",
        "1 h",
        "1H",
        "P",
        "PT",
        "P1DT",
        "P1Y",
        "P1M",
        "pt1h",
        "PT1.5H",
        "1h\n",
      ],
    },
    {
      ...place,
      constraint: `integer: 1000-${TIME_MAX}`,
      accepts: [1_000, TIME_MAX],
      refuses: [999, 0, -1, TIME_MAX + 1],
    },
  ];
}
