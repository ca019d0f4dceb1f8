/** Special tokens other than ends of turns, and the headers that some of them open. */
import { type DriftSide, endsTurn, isSpecialAt, spanAt } from './drift-side.ts'
import {
  type DriftPart,
  type DriftPosition,
  type DriftVerdict,
  isEmpty,
  isLast,
  ordinaryText,
  partOf,
  tokenText,
} from './place.ts'

/** Recognises special tokens that differ. */
export function specialTokens(place: DriftPosition): DriftVerdict | undefined {
  const { left, right } = place
  const [ours, theirs] = [namesIn(left), namesIn(right)]
  if (ours.length + theirs.length === 0) return otherRole(place)
  if (ours.join() === theirs.join() || ![left, right].every((part) => isNothing(part) || isHeader(part)))
    return undefined
  const which = `${ours.join(' ') || 'nothing'} on the left, ${theirs.join(' ') || 'nothing'} on the right`
  const isBare = [left, right].every((part) => ordinaryText(part).trim() === '')
  if (isBare && left.span.start <= 1 && right.span.start <= 1)
    return {
      kind: 'special-tokens',
      detail: 'bos',
      cause: `The beginning of the text differs (${which}): the tokenizer (add_special_tokens) and the template disagree on who writes the first token.`,
    }
  if (isLast(left) && isLast(right) && (isNothing(left) || isNothing(right)))
    return {
      kind: 'special-tokens',
      detail: 'generation-prompt',
      cause: `The header of the next reply is at the end of the ${ours.length > 0 ? 'left' : 'right'} only: one side was rendered with add_generation_prompt, the other without.`,
    }
  return isBare
    ? { kind: 'special-tokens', detail: 'other', cause: `Special tokens differ: ${which}.` }
    : { kind: 'special-tokens', detail: 'header', cause: `A turn header differs: ${which}.` }
}

/** Returns whether the part contains a special token, the end of a turn, or a part of the role in a turn header. */
export function isStructural(part: DriftPart): boolean {
  const { side, span } = part
  if (isEmpty(part)) return false
  for (let token = span.start; token < span.end; token++)
    if (isSpecialAt(side, token) || endsTurn(side, token)) return true
  return startsInRole(part)
}

/** Most tokens searched for a role, because roles are short. */
const ROLE_TOKENS = 8

/**
 * Returns whether the first token that is not blank belongs to a role: the word between a token that opens a turn and a
 * line end.
 */
function startsInRole(part: DriftPart): boolean {
  const { side } = part
  const [first] = part.words()
  if (first === undefined || /^\s*\n/.test(tokenText(side, first))) return false
  let opener = first - 1
  while (opener >= 0 && !isSpecialAt(side, opener)) {
    if (first - opener > ROLE_TOKENS || tokenText(side, opener).includes('\n')) return false
    opener--
  }
  if (opener < 0 || endsTurn(side, opener) || isInPart(side, opener)) return false
  let end = opener + 1
  while (end < side.ids.length && end <= opener + ROLE_TOKENS && !isSpecialAt(side, end)) end++
  const [role = ''] = partOf(side, { start: opener + 1, end })
    .text()
    .split('\n', 1)
  return ROLES.test(role)
}

/** Returns whether the part consists of special tokens that open a turn, with or without a role. */
export function isHeader(part: DriftPart): boolean {
  const { side } = part
  const specials = part.specials()
  return (
    specials.length > 0 &&
    specials[0] === part.words()[0] &&
    !specials.some((token) => endsTurn(side, token)) &&
    ROLES.test(ordinaryText(part))
  )
}

/** Content of turn headers of well-known templates: roles, the channels of some, or nothing. */
const ROLES =
  /^(?:\s|system|developer|user|human|assistant|model|gpt|bot|chatbot|ai|tool|function|ipython|observation|environment|analysis|commentary|final)*$/i
const WORD = /^[\p{L}\p{N}_-]{1,40}$/u

const isNothing = (part: DriftPart): boolean => isEmpty(part) || part.words().length === 0

const namesIn = (part: DriftPart): readonly string[] => part.specials().map((token) => tokenText(part.side, token))

/** Recognises a different role after a token that opens a turn. */
function otherRole({ left, right }: DriftPosition): DriftVerdict | undefined {
  const [ours, theirs] = [left, right].map((part) => part.text().trim()) as [string, string]
  if (![left, right].every(isRole) || ![ours, theirs].some((role) => ROLES.test(role))) return undefined
  return {
    kind: 'special-tokens',
    detail: 'header',
    cause: `The turn has the role “${ours}” on the left and “${theirs}” on the right: the templates use different names.`,
  }
}

/** Returns whether the part is between a token that opens a turn and a line end or another special token. */
function isRole(part: DriftPart): boolean {
  const { side, span } = part
  const before = span.start - 1
  if (!WORD.test(part.text().trim()) || before < 0 || span.end === side.ids.length) return false
  if (!isSpecialAt(side, before) || endsTurn(side, before) || isInPart(side, before)) return false
  return isSpecialAt(side, span.end) || tokenText(side, span.end).startsWith('\n')
}

/** A think block or a call is not a turn. */
const isInPart = ({ thinks, calls }: DriftSide, token: number): boolean =>
  spanAt(thinks, token) !== undefined || spanAt(calls, token) !== undefined
