/** What tests of other rooms use: the authorization table as data, and a world to call it in. */
export {
  AUTHORIZATION_MATRIX,
  type Code,
  type Codes,
  type MatrixRow,
} from "./authorization-matrix.ts";
export {
  type Invoke,
  PERSONAS,
  type Persona,
  type World,
  bookingInput,
  makeWorld,
  nodeReport,
} from "./world.ts";
