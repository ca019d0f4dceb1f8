/** Compares two texts of one call: how they are written differently if they have the same value. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { CallMember, CallPiece, CallSyntaxNode } from './call-text.ts'

/** Ways to write a value differently, the most informative first: of several at one position the first is named. */
export const WRITINGS = ['key-order', 'quotes', 'booleans', 'numbers', 'escapes', 'spacing'] as const
/** A way to write a value differently. */
export type CallWriting = (typeof WRITINGS)[number]

/** A difference in writing, with its range on both sides. */
export interface WritingDifference {
  readonly writing: CallWriting
  readonly left: Span
  readonly right: Span
}

/** Returns the differences in writing, or undefined if the values differ. */
export function writingDifferences(
  left: readonly CallSyntaxNode[],
  right: readonly CallSyntaxNode[],
): readonly WritingDifference[] | undefined {
  const found: WritingDifference[] = []
  const add = (writing: CallWriting, ours: Span, theirs: Span) => found.push({ writing, left: ours, right: theirs })
  const isSame = (ours: CallSyntaxNode, theirs: CallSyntaxNode): boolean => {
    spacing(ours.gap, theirs.gap)
    return isSameValue(ours, theirs)
  }
  const spacing = (ours: CallPiece, theirs: CallPiece) => {
    if (ours.raw !== theirs.raw) add('spacing', ours, theirs)
  }
  const isSameValue = (ours: CallSyntaxNode, theirs: CallSyntaxNode): boolean => {
    if (ours.kind === 'list' && theirs.kind === 'list') {
      spacing(ours.close, theirs.close)
      return areSame(ours.items, theirs.items)
    }
    if (ours.kind === 'object' && theirs.kind === 'object') {
      if (ours.raw[0] !== theirs.raw[0]) return areSameByName(ours.members, theirs.members)
      spacing(ours.close, theirs.close)
      return areSameMembers(ours.members, theirs.members, () => add('key-order', ours, theirs))
    }
    if (ours.raw === theirs.raw) return ours.kind === theirs.kind
    if (ours.kind === 'number' && theirs.kind === 'number') {
      add('numbers', ours, theirs)
      return Number(ours.raw) === Number(theirs.raw)
    }
    if (!('value' in ours && 'value' in theirs) || ours.kind !== theirs.kind) return false
    add(ours.kind === 'word' ? 'booleans' : ours.raw[0] === theirs.raw[0] ? 'escapes' : 'quotes', ours, theirs)
    return ours.value === theirs.value
  }
  /** In different markup the text between the values is not compared. */
  const areSameByName = (ours: readonly CallMember[], theirs: readonly CallMember[]): boolean => {
    const byName = new Map(theirs.map(({ key, value }) => [key.value, value]))
    return (
      ours.length === byName.size &&
      ours.every(({ key, value }) => {
        const other = byName.get(key.value)
        return other !== undefined && isSameValue(value, other)
      })
    )
  }
  const areSame = (ours: readonly CallSyntaxNode[], theirs: readonly CallSyntaxNode[]): boolean =>
    ours.length === theirs.length && ours.every((node, index) => isSame(node, elementAt(theirs, index)))
  const areSameMembers = (
    ours: readonly CallMember[],
    theirs: readonly CallMember[],
    addOrder: () => void,
  ): boolean => {
    if (ours.length !== theirs.length) return false
    const isOrdered = ours.every(({ key }, index) => key.value === theirs[index]?.key.value)
    if (!isOrdered) addOrder()
    const byName = new Map(theirs.map((member) => [member.key.value, member]))
    return ours.every(({ key, value }, index) => {
      const other = isOrdered ? theirs[index] : byName.get(key.value)
      if (!other) return false
      byName.delete(key.value)
      // The gap before a key depends on the position in the object, so it is only compared if the order is the same.
      const isSameKey = isOrdered ? isSame(key, other.key) : isSameValue(key, other.key)
      return isSameKey && isSame(value, other.value)
    })
  }
  return areSame(left, right) ? found : undefined
}
