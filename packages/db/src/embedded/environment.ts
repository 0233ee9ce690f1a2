/** What the programs of the database are given of our environment: it holds keys that are none of theirs. */

const PASSED = /^(?:PATH|HOME|LANG|LC_\w+|LD_\w+)$/;
/** Without these Windows finds neither its libraries nor a place for files. */
const PASSED_ON_WINDOWS = /^(?:SystemRoot|windir|TEMP|TMP)$/i;

/** In the locale C, whatever ours is: messages are read by us. */
export function databaseEnvironment(): Record<string, string> {
  const windows = process.platform === "win32";
  const passed = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (PASSED.test(windows ? entry[0].toUpperCase() : entry[0]) ||
        (windows && PASSED_ON_WINDOWS.test(entry[0]))),
  );
  return { ...Object.fromEntries(passed), LC_ALL: "C" };
}
