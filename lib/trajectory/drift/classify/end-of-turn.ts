/** The end-of-turn token: missing on one side, doubled, or different. */
import { endsTurn, isBlank } from './drift-side.ts'
import { type DriftPart, type DriftPosition, type DriftVerdict, ordinaryText, tokenText } from './place.ts'
import { closesThink } from './think.ts'

/** Recognises a drift at the end of a turn. */
export function endOfTurn({ left, right }: DriftPosition): DriftVerdict | undefined {
  const [ours, theirs] = [left, right].map(withoutClosing) as [readonly number[], readonly number[]]
  if (ours.length > 1 || theirs.length > 1 || [left, right].some((part) => ordinaryText(part).trim() !== ''))
    return undefined
  const [own, other] = [nameOf(left, ours[0]), nameOf(right, theirs[0])]
  if (!own?.ends && !other?.ends) return undefined
  if (own && other)
    return {
      kind: 'end-of-turn',
      detail: 'alias',
      cause: `The turn ends with ${own.name} on the left and with ${other.name} on the right: the model stopped at a different token than the template writes.`,
    }
  const { name, part, token } = (own ?? other) as Named
  const [on, off] = own ? ['left', 'right'] : ['right', 'left']
  if (isBesideEnd(part, token))
    return {
      kind: 'end-of-turn',
      detail: 'doubled',
      cause: `The turn ends with ${name} twice on the ${on}: the sampled stop token was kept and the template added its own.`,
    }
  return {
    kind: 'end-of-turn',
    detail: 'missing',
    cause: `${name} is missing on the ${off}: ${
      own
        ? 'the stop token was trimmed from the reply, and nothing restored it.'
        : 'the reply ended without it (a limit, a stop string), and the template closed the turn.'
    }`,
  }
}

/** A template that ends a turn for the model also closes its think block. */
const withoutClosing = (part: DriftPart): readonly number[] => {
  const specials = part.specials()
  return specials.length > 1 ? specials.filter((token) => !closesThink(tokenText(part.side, token))) : specials
}

interface Named {
  readonly name: string
  readonly ends: boolean
  readonly part: DriftPart
  readonly token: number
}

const nameOf = (part: DriftPart, token: number | undefined): Named | undefined =>
  token === undefined ? undefined : { name: tokenText(part.side, token), ends: endsTurn(part.side, token), part, token }

/** Allows white space between the token and the end. */
function isBesideEnd({ side }: DriftPart, token: number): boolean {
  const { length } = side.ids
  let before = token - 1
  while (before >= 0 && isBlank(side, before)) before--
  let after = token + 1
  while (after < length && isBlank(side, after)) after++
  return (before >= 0 && endsTurn(side, before)) || (after < length && endsTurn(side, after))
}
