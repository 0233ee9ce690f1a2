/** What tests of other rooms use: the authorization table as data, and a world to call it in. */
export {
  AUTHORIZATION_MATRIX,
  type Code,
  type Codes,
  IDS,
  type Ids,
  type MatrixRow,
  expectedCode,
} from "./authorization-matrix.ts";
export {
  type Invoke,
  PERSONAS,
  type Persona,
  type World,
  absentId,
  absentTenant,
  absentWorld,
  bookingInput,
  makeWorld,
  nodeReport,
} from "./world.ts";
export { makeToken } from "../access/token.ts";
export {
  AUDIENCE,
  DISCOVERY,
  type FakeIssuer,
  KEYS,
  type SigningKey,
  drip,
  fakeIssuer,
  flood,
  hangUp,
  json,
  redirect,
  signingKey,
} from "./issuer.ts";
