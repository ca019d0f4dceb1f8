'use client'
import { createSerializer, parseAsFloat, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useMemo } from 'react'
import { useAddress } from '#components/shell/use-address.ts'
import { ADVANTAGE_FORMULAS, type AdvantageFormula, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { ADVANTAGE } from './colour.ts'
import { type Brush, brushText, readBrush } from './samples/brush.ts'
import { type BranchModes, modesText, NO_MODES, readModes } from './tree/folds.ts'

/** A pinned token by its sample, so that it stays the same when the tree changes. */
export interface PinnedToken {
  /** Index of the sample. */
  readonly sample: number
  /** Index of the token in its trajectory. */
  readonly token: number
}

/** The views of a group in the middle of its page. */
export const GROUP_TABS = ['tree', 'table', 'charts'] as const
/** A view of a group. */
export type GroupTab = (typeof GROUP_TABS)[number]

/** State of the page that its address stores. */
export interface GroupPageView {
  readonly tab: GroupTab
  readonly formula: AdvantageFormula
  /** Name of the colour mode. */
  readonly colour: string
  /** The end of the colour scale; undefined: p95. */
  readonly limit: number | undefined
  readonly pinned: PinnedToken | undefined
  readonly modes: BranchModes
  /** The range of rewards or lengths whose samples are not dimmed; undefined: all. */
  readonly brush: Brush | undefined
}

const NAMES = {
  keys: parseAsString,
  tab: parseAsStringLiteral(GROUP_TABS).withDefault('tree'),
  formula: parseAsStringLiteral(ADVANTAGE_FORMULAS).withDefault(DEFAULT_FORMULA),
  colour: parseAsString.withDefault(ADVANTAGE),
  limit: parseAsFloat,
  at: parseAsString,
  folds: parseAsString,
  brush: parseAsString,
}

const serialize = createSerializer(NAMES)

/** Returns the state in the address, and functions that change it. A copied link shows the same view. */
export function useGroupAddress() {
  const [{ keys, tab, formula, colour, limit, at, folds, brush }, set] = useAddress(NAMES)
  // An unchanged part of the address stays the same object, so that nothing is computed again from it.
  const pinned = useMemo(() => (at === null ? undefined : readPinned(at)), [at])
  const range = useMemo(() => (brush === null ? undefined : readBrush(brush)), [brush])
  const view: GroupPageView = {
    tab,
    formula,
    colour,
    limit: limit ?? undefined,
    pinned,
    modes: folds === null ? NO_MODES : readModes(folds),
    brush: range,
  }
  return {
    /** Keys of selected trajectories; empty if the address names a group. */
    keys: keys === null ? [] : readKeys(keys),
    view,
    setView: (change: Partial<GroupPageView>) => set(namesOf(change)),
    /** Returns an absolute address that restores this view. */
    link: () => new URL(serialize(window.location.pathname, { keys, ...namesOf(view) }), window.location.href).href,
  }
}

/** Returns the keys in an address, in which a comma of a key is written as %2C. */
export const readKeys = (text: string): readonly string[] =>
  text
    .split(',')
    .filter((key) => key !== '')
    .map((key) => key.replaceAll('%2C', ','))

/** Returns a pinned token as in addresses, such as `1.211`: the number of its sample from 1, and the token. */
export const pinnedText = ({ sample, token }: PinnedToken): string => `${sample + 1}.${token}`

/** Reads a pinned token; undefined if the text is none. */
export function readPinned(text: string): PinnedToken | undefined {
  const [, sample, token] = /^([1-9]\d{0,3})\.(\d{1,9})$/.exec(text) ?? []
  return sample === undefined ? undefined : { sample: Number(sample) - 1, token: Number(token) }
}

function namesOf(change: Partial<GroupPageView>) {
  const { tab, formula, colour } = change
  return {
    ...(tab !== undefined && { tab }),
    ...(formula !== undefined && { formula }),
    ...(colour !== undefined && { colour }),
    ...('limit' in change && { limit: change.limit ?? null }),
    ...('pinned' in change && { at: change.pinned ? pinnedText(change.pinned) : null }),
    ...(change.modes !== undefined && { folds: modesText(change.modes) ?? null }),
    ...('brush' in change && { brush: change.brush ? brushText(change.brush) : null }),
  }
}
