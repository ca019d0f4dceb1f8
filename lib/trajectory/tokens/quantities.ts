/** The numbers that describe how the model sampled a token. Colours, queries and charts read them from this table. */
import { segmentLogRatios } from '../scoring/log-ratios.ts'
import { entropyAt, marginAt, rankAt } from './alternatives.ts'
import { type ColumnRole, type ColumnSource, columnRoles, roleColumn } from './column-roles.ts'
import { surprise } from './tokens.ts'
import { numberAt, type SegmentView } from './trajectory-view.ts'

/** One number of a token, with its title, unit and way to read it. */
export interface TokenQuantity {
  readonly title: string
  /** Unit suffix; '' if unitless. */
  readonly unit: string
  /** What a segment needs for it: its logprobs, its alternatives, or a column with one of these roles. */
  readonly source: 'logprobs' | 'topLogprobs' | readonly ColumnRole[]
  /** True if it is computed from the k recorded alternatives, which are only a part of the distribution. */
  readonly isApproximate: boolean
  /** The limitation that a search for it reports. */
  readonly caveat?: string
  /**
   * Returns a function that reads the value at an index of a segment; NaN = unknown. Each quantity has its own function,
   * because a shared one reads a quarter slower. `trajectory` says what the columns of the segment mean.
   */
  readonly reader: (segment: SegmentView, trajectory: ColumnSource) => (index: number) => number
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
    title: 'surprisal',
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
    reader: (segment, trajectory) => {
      const exact = roleColumn(segment, trajectory, 'entropy')
      return exact
        ? (index) => numberAt(exact, index) ?? Number.NaN
        : (index) => entropyAt(segment, index) ?? Number.NaN
    },
  },
  margin: {
    title: 'margin',
    unit: '',
    source: 'topLogprobs',
    isApproximate: true,
    reader: (segment) => (index) => marginAt(segment, index) ?? Number.NaN,
  },
  ratio: {
    title: 'importance ratio',
    unit: '',
    source: ['trainer', 'ratio'],
    isApproximate: false,
    reader: (segment, trajectory) => {
      const logRatios = segmentLogRatios(trajectory, segment)
      return (index) => Math.exp(numberAt(logRatios, index) ?? Number.NaN)
    },
  },
  trainer: ofRole('trainer', 'trainer logprob', 'nats'),
  reference: ofRole('reference', 'reference logprob', 'nats'),
  advantage: ofRole('advantage', 'advantage', ''),
  return: ofRole('return', 'return', ''),
  value: ofRole('value', 'value', ''),
  clipmask: ofRole('clipMask', 'clip mask', ''),
  experts: ofRole('experts', 'expert agreement', ''),
} as const satisfies Readonly<Record<string, TokenQuantity>>

/** Returns a number that a column of the file has. */
function ofRole(role: ColumnRole, title: string, unit: string): TokenQuantity {
  return {
    title,
    unit,
    source: [role],
    isApproximate: false,
    reader: (segment, trajectory) => {
      const column = roleColumn(segment, trajectory, role)
      return (index) => numberAt(column, index) ?? Number.NaN
    },
  }
}

/** The name of a quantity, as queries use it. */
export type QuantityName = keyof typeof TOKEN_QUANTITIES

/** The names of all quantities, in the order of the table. */
export const QUANTITY_NAMES = Object.keys(TOKEN_QUANTITIES) as readonly QuantityName[]

/**
 * Returns a quantity. Entropy that the file has as a column is exact, and takes the place of the one computed from alternatives. It is
 * called exact only if every response has the column.
 */
export function quantityNamed(name: QuantityName, trajectory: ColumnSource): TokenQuantity {
  const quantity: TokenQuantity = TOKEN_QUANTITIES[name]
  const column = columnRoles(trajectory).entropy
  if (name !== 'entropy' || column === undefined) return quantity
  if (trajectory.segments.some(({ kind, columns }) => kind === 'response' && !columns?.[column])) return quantity
  const { caveat: _, ...exact } = quantity
  return { ...exact, source: ['entropy'], isApproximate: false }
}

/** Returns whether a trajectory has what a quantity is computed from. */
export function hasQuantity({ source }: TokenQuantity, trajectory: ColumnSource): boolean {
  if (typeof source === 'string') return trajectory.segments.some((segment) => segment[source] !== undefined)
  const roles = columnRoles(trajectory)
  return source.some((role) => roles[role] !== undefined)
}
