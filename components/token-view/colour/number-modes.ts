/** Colour modes that show a number: from logprobs, from alternatives, and from the columns of the file. */
import { type QuantityName, quantityNamed } from '#lib/trajectory/tokens/quantities.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'
import { percentText } from '../numbers.ts'
import type { Axis, Extent, NumberMode } from './mode.ts'

const SURPRISE_AXIS: Axis = {
  direction: 'rising',
  origin: 0,
  step: 0.5,
  // A surprisal below one nat (p > 0.37) is ordinary.
  shortest: 1,
  reach: Number.POSITIVE_INFINITY,
}
const SHARE_AXIS: Axis = { direction: 'falling', origin: 1, step: 0.05, shortest: 0.05, reach: 1 }

/** Returns the number with three significant digits and a true minus sign. */
function shortNumber(value: number): string {
  const size = Math.abs(value)
  const text =
    size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(3)))
  return text.replaceAll('-', '−')
}

type Look = Pick<NumberMode, 'name' | 'title' | 'explanation' | 'scope' | 'axis' | 'text'>

function quantityMode(name: QuantityName, look: Look): NumberMode {
  const { title: quantity, unit, isApproximate, source, reader } = quantityNamed(name)
  return {
    ...look,
    kind: 'number',
    quantity,
    unit,
    isApproximate,
    read: (segment) => segment[source] && reader(segment),
  }
}

/** Surprisal of trained tokens, in nats. */
export const SURPRISE = quantityMode('surprise', {
  name: 'logprob',
  title: 'Logprob',
  explanation: 'Surprisal (−logprob) of trained tokens',
  scope: 'trained',
  axis: () => SURPRISE_AXIS,
  text: shortNumber,
})

/** Surprisal of trained tokens and of prompt tokens, in nats. */
export const SURPRISE_WITH_PROMPT: NumberMode = {
  ...SURPRISE,
  name: 'logprobs',
  title: 'Logprob + prompt',
  explanation: 'Surprisal of context tokens too: prefill, at temperature 1',
  scope: 'all',
}

/** Probability of trained tokens, 0 to 1. */
export const PROBABILITY = quantityMode('p', {
  name: 'probability',
  title: 'Probability',
  explanation: 'Probability of trained tokens, exp(logprob): the less likely, the warmer',
  scope: 'trained',
  axis: () => SHARE_AXIS,
  text: percentText,
})

/** Lower bound of the entropy at trained tokens, in nats. */
export const ENTROPY = quantityMode('entropy', {
  name: 'entropy',
  title: 'Entropy',
  explanation:
    'Approximate: from the k best. −Σ pᵢ ln pᵢ − r ln r, with pᵢ of the recorded alternatives and the remaining probability r = 1 − Σ pᵢ: the real entropy is at least this',
  scope: 'trained',
  axis: () => ({ ...SURPRISE_AXIS, step: 0.25, shortest: 0.5 }),
  text: shortNumber,
})

/** Probability of the best recorded alternative minus that of the second, at trained tokens. */
export const MARGIN = quantityMode('margin', {
  name: 'margin',
  title: 'Margin',
  explanation:
    'Approximate: from the k best. Probability of the most likely recorded alternative minus that of the second: the smaller, the warmer',
  scope: 'trained',
  axis: () => SHARE_AXIS,
  text: shortNumber,
})

/** Prefix of a mode's name in the address; the name of a column follows. */
export const COLUMN_PREFIX = 'column:'

/**
 * Returns the mode of a column of the file. Values of both signs diverge around 0 and ratios around 1; other values lead in one direction
 * from 0.
 */
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

function columnAxis(column: string, { min, max }: Extent): Axis {
  const common = { origin: 0, step: 0, shortest: 0, reach: Number.POSITIVE_INFINITY }
  if (/ratio|importance/i.test(column) && min >= 0) return { ...common, direction: 'diverging', origin: 1 }
  if (min < 0 && max > 0) return { ...common, direction: 'diverging' }
  return { ...common, direction: min < 0 ? 'falling' : 'rising' }
}
