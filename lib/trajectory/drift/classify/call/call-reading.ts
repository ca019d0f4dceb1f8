/**
 * Compares a call of one side with the text of the other: whether both say the same, and where they are written
 * differently.
 */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { textWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { idsBetween } from '#lib/trajectory/tokens/tokens.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type CallSpan, type DriftSide, firstTouched } from '../drift-side.ts'
import type { DriftPart, DriftPosition } from '../place.ts'
import { type CallSyntaxNode, callNodes } from './call-text.ts'
import { type CallWriting, WRITINGS, type WritingDifference, writingDifferences } from './call-writing.ts'

/** A call of one side, compared with the other side. */
export interface CallReading {
  /** The span of the other side that corresponds to the call. */
  readonly other: Span
  /** 'arguments' means that these are the same, in different markup or with different other members. */
  readonly same: 'all' | 'arguments' | 'nothing'
  /** How the equal parts are written differently, the most informative difference first. */
  readonly writings: readonly CallWriting[]
  /** Returns the differences at a drift. */
  readonly writingsAt: (place: DriftPosition) => readonly CallWriting[]
}

/** Caches the comparison of a call, because several drifts may be inside of it. */
const readings = new WeakMap<CallSpan, CallReading>()

/** Compares the call with the other side. */
export function readingOf(own: CallSpan, from: 'left' | 'right', place: DriftPosition): CallReading {
  const known = readings.get(own)
  if (known) return known
  const reading = read(own, from, place)
  readings.set(own, reading)
  return reading
}

function read(own: CallSpan, from: 'left' | 'right', place: DriftPosition): CallReading {
  const [side, across] = from === 'left' ? [place.left.side, place.right.side] : [place.right.side, place.left.side]
  const mapped = place.across(from, own)
  const other = firstTouched(across.calls, mapped) ?? mapped
  const [mine, its] = [callText(side, own), callText(across, other)]
  const [left, right] = from === 'left' ? [mine, its] : [its, mine]
  const [ours, theirs] = [callNodes(left.text), callNodes(right.text)]
  const whole = writingDifferences(ours, theirs)
  const differences = whole ?? argumentDifferences(ours, theirs)
  const all = differences ?? []
  const byLeft = all.toSorted((a, b) => a.left.start - b.left.start)
  const byRight = all.toSorted((a, b) => a.right.start - b.right.start)
  const writingsOf = (some: readonly WritingDifference[]) =>
    WRITINGS.filter((writing) => some.some((each) => each.writing === writing))
  return {
    other,
    same: whole ? 'all' : differences ? 'arguments' : 'nothing',
    writings: writingsOf(all),
    writingsAt: (at) =>
      writingsOf([
        ...near(byLeft, 'left', charactersOf(at.left, left)),
        ...near(byRight, 'right', charactersOf(at.right, right)),
      ]),
  }
}

function argumentDifferences(
  left: readonly CallSyntaxNode[],
  right: readonly CallSyntaxNode[],
): readonly WritingDifference[] | undefined {
  const [ours, theirs] = [left, right].map((nodes) => {
    const at = nodes.findLastIndex(({ kind }) => kind === 'object')
    return calledIn(nodes[at], nodes[at - 1])
  })
  if (!ours || !theirs || (ours.name ?? theirs.name) !== (theirs.name ?? ours.name)) return undefined
  return writingDifferences([ours.input], [theirs.input])
}

/** Names of the arguments in model formats. Text before a value is not part of the value. */
const ARGUMENTS = ['arguments', 'parameters', 'input', 'args']

const PYTHON_NAME = /[\p{L}_][\p{L}\p{N}_.-]*$/u

interface Called {
  /** Undefined if the name is outside of the JSON. */
  readonly name: string | undefined
  readonly input: CallSyntaxNode
}

/** `before` is the node in front of it. */
function calledIn(node: CallSyntaxNode | undefined, before?: CallSyntaxNode): Called | undefined {
  if (node?.kind !== 'object') return undefined
  if (node.raw[0] === '(') return { name: before && PYTHON_NAME.exec(before.raw)?.[0], input: node }
  const member = (names: readonly string[], kind: CallSyntaxNode['kind']) =>
    node.members.find(({ key, value }) => names.includes(key.value) && value.kind === kind)?.value
  const inner = calledIn(member(['function'], 'object'))
  if (inner) return inner
  const input = member(ARGUMENTS, 'object') ?? node
  const name = member(['name'], 'string')
  return {
    name: input !== node && name?.kind === 'string' ? name.value : undefined,
    input: { ...input, gap: { raw: '', start: input.start, end: input.start } },
  }
}

interface CallText {
  readonly span: Span
  readonly text: string
  readonly starts: readonly number[]
}

const callText = ({ ids, trajectory }: DriftSide, span: Span): CallText => ({
  span,
  ...textWithStarts(idsBetween(ids, span), trajectory.vocab),
})

function charactersOf({ span }: DriftPart, { span: call, starts }: CallText): Span {
  const at = (token: number) => elementAt(starts, Math.min(Math.max(token - call.start, 0), starts.length - 1))
  return { start: at(span.start), end: at(span.end) }
}

/** Most differences searched around a drift: a call may have as many as it has tokens. */
const MOST_NEAR = 32

/** Returns the differences of a sorted list that share characters with a range. */
function near(sorted: readonly WritingDifference[], side: 'left' | 'right', range: Span): readonly WritingDifference[] {
  const end = countWhile(sorted.length, (index) => elementAt(sorted, index)[side].start < range.end)
  return sorted.slice(Math.max(0, end - MOST_NEAR), end).filter((each) => range.start < each[side].end)
}
