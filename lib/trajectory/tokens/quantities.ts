/** The numbers that describe how the model sampled a token. Colours, queries and charts read them from this table. */
import { entropyAt, marginAt, rankAt } from './alternatives.ts'
import { surprise } from './tokens.ts'
import { numberAt, type SegmentView } from './trajectory-view.ts'

/** One number of a token, with its title, unit and way to read it. */
export interface TokenQuantity {
  readonly title: string
  /** Unit suffix; '' if unitless. */
  readonly unit: string
  /** The column of a segment that it is computed from. */
  readonly source: 'logprobs' | 'topLogprobs'
  /** True if it is computed from the k recorded alternatives, which are only a part of the distribution. */
  readonly isApproximate: boolean
  /** The limitation that a search for it reports. */
  readonly caveat?: string
  /**
   * Returns a function that reads the value at an index of a segment; NaN = unknown. Each quantity has its own function,
   * because a shared one reads a quarter slower.
   */
  readonly reader: (segment: SegmentView) => (index: number) => number
}

/** All quantities by the name that queries use. */
export const TOKEN_QUANTITIES = {
  logprob: {
    title: 'logprob',
    unit: 'nats',
    source: 'logprobs',
    isApproximate: false,
    reader:
      ({ logprobs }) =>
      (index) =>
        numberAt(logprobs, index) ?? Number.NaN,
  },
  surprise: {
    title: 'surprise',
    unit: 'nats',
    source: 'logprobs',
    isApproximate: false,
    reader:
      ({ logprobs }) =>
      (index) =>
        surprise(numberAt(logprobs, index)) ?? Number.NaN,
  },
  p: {
    title: 'probability',
    unit: '',
    source: 'logprobs',
    isApproximate: false,
    reader:
      ({ logprobs }) =>
      (index) => {
        const logprob = numberAt(logprobs, index)
        return logprob === null ? Number.NaN : Math.exp(logprob)
      },
  },
  rank: {
    title: 'rank',
    unit: '',
    source: 'topLogprobs',
    isApproximate: false,
    caveat: 'Only the most likely alternatives are recorded: a rank beyond them counts as larger than any number.',
    reader: (segment) => (index) => rankAt(segment, index) ?? Number.NaN,
  },
  entropy: {
    title: 'entropy',
    unit: 'nats',
    source: 'topLogprobs',
    isApproximate: true,
    caveat: 'Entropy is approximate: it counts all alternatives that are not recorded as one.',
    reader: (segment) => (index) => entropyAt(segment, index) ?? Number.NaN,
  },
  margin: {
    title: 'margin',
    unit: '',
    source: 'topLogprobs',
    isApproximate: true,
    reader: (segment) => (index) => marginAt(segment, index) ?? Number.NaN,
  },
} as const satisfies Readonly<Record<string, TokenQuantity>>

/** The name of a quantity, as queries use it. */
export type QuantityName = keyof typeof TOKEN_QUANTITIES

/** The names of all quantities, in the order of the table. */
export const QUANTITY_NAMES = Object.keys(TOKEN_QUANTITIES) as readonly QuantityName[]

/** Returns a quantity typed as TokenQuantity, so that its optional fields can be read. */
export const quantityNamed = (name: QuantityName): TokenQuantity => TOKEN_QUANTITIES[name]
