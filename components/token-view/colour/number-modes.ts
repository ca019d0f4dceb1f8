/** Numbers that tokens are coloured by: of the logprobs, of the alternatives, and the columns that a file brings. */
import { entropyAt, marginAt } from '#lib/trajectory/tokens/alternatives.ts'
import { surprise } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { percentText } from '../numbers.ts'
import type { Axis, Extent, NumberMode } from './mode.ts'

const SURPRISE_AXIS: Axis = {
  direction: 'rising',
  origin: 0,
  step: 0.5,
  // Below one nat (p > 0.37) there is nothing to be surprised at.
  shortest: 1,
  reach: Number.POSITIVE_INFINITY,
}
const SHARE_AXIS: Axis = { direction: 'falling', origin: 1, step: 0.05, shortest: 0.05, reach: 1 }

/** Three digits that count, a real minus sign. */
function shortNumber(value: number): string {
  const size = Math.abs(value)
  const text =
    size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(3)))
  return text.replaceAll('-', '−')
}

const surpriseMode = (name: string, title: string, scope: NumberMode['scope'], explanation: string): NumberMode => ({
  kind: 'number',
  name,
  title,
  explanation,
  quantity: 'surprise',
  unit: 'nats',
  isApproximate: false,
  scope,
  axis: () => SURPRISE_AXIS,
  read: ofLogprobs((logprob) => surprise(logprob) ?? Number.NaN),
  text: shortNumber,
})

export const SURPRISE = surpriseMode('logprob', 'Logprob', 'trained', 'Surprise (−logprob) of trained tokens')
export const SURPRISE_WITH_PROMPT = surpriseMode(
  'logprobs',
  'Logprob + prompt',
  'all',
  'Surprise of context tokens too: prefill, at temperature 1',
)

export const PROBABILITY: NumberMode = {
  kind: 'number',
  name: 'probability',
  title: 'Probability',
  explanation: 'Probability of trained tokens, exp(logprob): the less likely, the warmer',
  quantity: 'probability',
  unit: '',
  isApproximate: false,
  scope: 'trained',
  axis: () => SHARE_AXIS,
  read: ofLogprobs((logprob) => Math.exp(logprob)),
  text: percentText,
}

export const ENTROPY: NumberMode = {
  kind: 'number',
  name: 'entropy',
  title: 'Entropy',
  explanation:
    'Approximate: from the k best. −Σ pᵢ ln pᵢ − r ln r, with pᵢ of the recorded alternatives and all the rest r = 1 − Σ pᵢ as one lump: the real entropy is at least this',
  quantity: 'entropy',
  unit: 'nats',
  isApproximate: true,
  scope: 'trained',
  axis: () => ({ ...SURPRISE_AXIS, step: 0.25, shortest: 0.5 }),
  read: ofAlternatives(entropyAt),
  text: shortNumber,
}

export const MARGIN: NumberMode = {
  kind: 'number',
  name: 'margin',
  title: 'Margin',
  explanation:
    'Approximate: from the k best. Probability of the likeliest recorded alternative less that of the second: the smaller, the warmer',
  quantity: 'margin',
  unit: '',
  isApproximate: true,
  scope: 'trained',
  axis: () => SHARE_AXIS,
  read: ofAlternatives(marginAt),
  text: shortNumber,
}

export const COLUMN_PREFIX = 'column:'

/** A column of the file. Numbers of both signs diverge around 0, ratios around 1; others go one way from 0. */
export const columnMode = (column: string): NumberMode => ({
  kind: 'number',
  name: `${COLUMN_PREFIX}${column}`,
  title: column,
  explanation: `The column ${column} of this file`,
  quantity: column,
  unit: '',
  isApproximate: false,
  scope: 'all',
  axis: (extent) => columnAxis(column, extent),
  read: (segment) => {
    const numbers = segment.columns?.[column]
    return numbers && ((offset) => numberAt(numbers, offset) ?? Number.NaN)
  },
  text: shortNumber,
})

function columnAxis(column: string, { least, largest }: Extent): Axis {
  const common = { origin: 0, step: 0, shortest: 0, reach: Number.POSITIVE_INFINITY }
  if (/ratio|importance/i.test(column) && least >= 0) return { ...common, direction: 'diverging', origin: 1 }
  if (least < 0 && largest > 0) return { ...common, direction: 'diverging' }
  return { ...common, direction: least < 0 ? 'falling' : 'rising' }
}

function ofLogprobs(value: (logprob: number) => number): NumberMode['read'] {
  return ({ logprobs }) =>
    logprobs &&
    ((offset) => {
      const logprob = numberAt(logprobs, offset)
      return logprob === null ? Number.NaN : value(logprob)
    })
}

function ofAlternatives(value: (segment: SegmentView, offset: number) => number | null): NumberMode['read'] {
  return (segment) => segment.topLogprobs && ((offset) => value(segment, offset) ?? Number.NaN)
}
