/** The numbers that tell how the model sampled a token. Colours, queries and charts read them from this table. */
import { entropyAt, marginAt, rankAt } from './alternatives.ts'
import { surprise } from './tokens.ts'
import { numberAt, type SegmentView } from './trajectory-view.ts'

export interface TokenQuantity {
  readonly title: string
  /** Unit suffix; '' if unitless. */
  readonly unit: string
  /** The column of a segment that it is computed from. */
  readonly source: 'logprobs' | 'topLogprobs'
  /** Whether it is computed from the k recorded alternatives, which do not hold the whole distribution. */
  readonly isApproximate: boolean
  /** What a search for it must take into account. */
  readonly caveat?: string
  /** Returns what reads the value at an index of a segment; NaN = unknown. One function each: a shared one reads a quarter slower. */
  readonly reader: (segment: SegmentView) => (index: number) => number
}

/** By the name that queries use. */
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
    caveat: 'Only the likeliest alternatives are recorded: a rank beyond them counts as larger than any number.',
    reader: (segment) => (index) => rankAt(segment, index) ?? Number.NaN,
  },
  entropy: {
    title: 'entropy',
    unit: 'nats',
    source: 'topLogprobs',
    isApproximate: true,
    caveat: 'Entropy is approximate: of the recorded alternatives, and the rest as one.',
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

export type QuantityName = keyof typeof TOKEN_QUANTITIES

export const QUANTITY_NAMES = Object.keys(TOKEN_QUANTITIES) as readonly QuantityName[]

export const quantityNamed = (name: QuantityName): TokenQuantity => TOKEN_QUANTITIES[name]
