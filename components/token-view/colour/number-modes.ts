/** Colour modes that show a number: from logprobs, from alternatives, and from the columns of the file. */
import type { ColumnSource } from '#lib/trajectory/tokens/column-roles.ts'
import { hasQuantity, type QuantityName, quantityNamed } from '#lib/trajectory/tokens/quantities.ts'
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

function quantityMode(name: QuantityName, look: Look, trajectory: ColumnSource = NO_COLUMNS): NumberMode {
  const { title: quantity, unit, isApproximate, source, reader } = quantityNamed(name, trajectory)
  return {
    ...look,
    kind: 'number',
    quantity,
    unit,
    isApproximate,
    read: (segment) =>
      typeof source === 'string' && segment[source] === undefined ? undefined : reader(segment, trajectory),
  }
}

/** Quantities of logprobs and alternatives need no columns. */
const NO_COLUMNS: ColumnSource = { segments: [] }

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

/** Entropy at trained tokens, in nats: that of a column of the file, or else a lower bound from the alternatives. */
export function entropyMode(trajectory: ColumnSource): NumberMode {
  const { isApproximate } = quantityNamed('entropy', trajectory)
  const look: Look = {
    name: 'entropy',
    title: 'Entropy',
    explanation: isApproximate
      ? 'Approximate: from the k best. −Σ pᵢ ln pᵢ − r ln r, with pᵢ of the recorded alternatives and the remaining probability r = 1 − Σ pᵢ: the real entropy is at least this'
      : 'Entropy of trained tokens, as a column of the file has it',
    scope: 'trained',
    axis: () => ({ ...SURPRISE_AXIS, step: 0.25, shortest: 0.5 }),
    text: shortNumber,
  }
  return quantityMode('entropy', look, trajectory)
}

/** Octaves of the importance ratio up to the last colour: from ⅛ to 8. */
const RATIO_OCTAVES = 3

const RATIO_AXIS: Axis = {
  direction: 'diverging',
  origin: 1,
  step: 0,
  isLogarithmic: true,
  shortest: RATIO_OCTAVES,
  reach: RATIO_OCTAVES,
}

/** A number that a trainer computed for each token, as it is shown. */
interface TrainerLook {
  readonly title: string
  readonly explanation: string
  readonly axis: NumberMode['axis']
}

/** Numbers of the trainer by the name of their quantity. */
const TRAINER_LOOKS = {
  ratio: {
    title: 'Importance ratio',
    explanation: 'Probability under the trainer, divided by the probability when sampled; logarithmic, 1 has no colour',
    axis: () => RATIO_AXIS,
  },
  trainer: {
    title: 'Trainer logprob',
    explanation: 'Logprob that the trainer computed: the less likely, the warmer',
    axis: () => ({ ...SURPRISE_AXIS, direction: 'falling' }),
  },
  reference: {
    title: 'Reference logprob',
    explanation: 'Logprob under the reference model: the less likely, the warmer',
    axis: () => ({ ...SURPRISE_AXIS, direction: 'falling' }),
  },
  advantage: {
    title: 'Advantage',
    explanation: 'Advantage that the trainer gave each token',
    axis: (extent) => signedAxis(extent),
  },
  return: {
    title: 'Return',
    explanation: 'Return that the trainer gave each token',
    axis: (extent) => signedAxis(extent),
  },
  value: {
    title: 'Value',
    explanation: 'Value that the critic predicted at each token',
    axis: (extent) => signedAxis(extent),
  },
} as const satisfies Readonly<Partial<Record<QuantityName, TrainerLook>>>

/** Name of a number of the trainer, and of its colour mode. */
type TrainerNumber = keyof typeof TRAINER_LOOKS

/** Names of the numbers of the trainer, in the order of the menu. */
export const TRAINER_NUMBERS = Object.keys(TRAINER_LOOKS) as readonly TrainerNumber[]

/** Returns whether a name is that of a number of the trainer. */
export const isTrainerNumber = (name: string): name is TrainerNumber => Object.hasOwn(TRAINER_LOOKS, name)

/** Returns the mode of a number of the trainer. */
export function trainerMode(name: TrainerNumber, trajectory: ColumnSource): NumberMode {
  const look: TrainerLook = TRAINER_LOOKS[name]
  return quantityMode(name, { ...look, name, scope: 'trained', text: shortNumber }, trajectory)
}

/** Returns whether a trajectory has a number of the trainer. */
export const hasTrainerNumber = (name: TrainerNumber, trajectory: ColumnSource): boolean =>
  hasQuantity(quantityNamed(name, trajectory), trajectory)

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

/** The share of equal experts in two passes over the same tokens, of all tokens. */
export const expertsMode = (trajectory: ColumnSource): NumberMode =>
  quantityMode(
    'experts',
    {
      name: 'experts',
      title: 'Expert agreement',
      explanation:
        'Share of the experts of a mixture of experts that a second pass over the same tokens chose again: the fewer, the warmer',
      scope: 'all',
      axis: () => SHARE_AXIS,
      text: percentText,
    },
    trajectory,
  )

/** Returns whether a trajectory has the agreement of experts. */
export const hasExperts = (trajectory: ColumnSource): boolean =>
  hasQuantity(quantityNamed('experts', trajectory), trajectory)

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

function columnAxis(column: string, extent: Extent): Axis {
  const axis = signedAxis(extent)
  return /ratio|importance/i.test(column) && extent.min >= 0 ? { ...axis, direction: 'diverging', origin: 1 } : axis
}

/** Returns the axis of values that may have both signs. */
function signedAxis({ min, max }: Extent): Axis {
  const common = { origin: 0, step: 0, shortest: 0, reach: Number.POSITIVE_INFINITY }
  if (min < 0 && max > 0) return { ...common, direction: 'diverging' }
  return { ...common, direction: min < 0 ? 'falling' : 'rising' }
}
