import fc from 'fast-check'

const SURROGATES = 0x800
const anyCodePoint = fc
  .oneof(fc.nat(0xff), fc.nat(0xffff - SURROGATES), fc.nat(0x10ffff - SURROGATES))
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + SURROGATES))

/** Returns texts of any Unicode characters, like `unit: 'binary'`, which takes a second to list all million of them. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: anyCodePoint })
