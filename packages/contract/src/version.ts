/**
 * The version of the API, `major.minor`: every answer names it as `berth-api-version`. The minor goes up with what
 * callers may newly ask for or be told; the major with what breaks them.
 */
export const API_VERSION = "1.0";
