import fc from 'fast-check'

const SURROGATES = 0x800
const anyCodePoint = fc
  .oneof(fc.nat(0xff), fc.nat(0xffff - SURROGATES), fc.nat(0x10ffff - SURROGATES))
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + SURROGATES))

/** Of any Unicode characters, as `unit: 'binary'` makes them: that one first writes down all million of them, which takes a second. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: anyCodePoint })
