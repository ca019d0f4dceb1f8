'use client'
import { createSerializer, parseAsBoolean, parseAsInteger, parseAsString } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { CompareView } from './view.ts'

const NAMES = {
  left: parseAsString.withDefault(''),
  right: parseAsString.withDefault(''),
  drift: parseAsInteger,
  only: parseAsBoolean.withDefault(false),
  unified: parseAsBoolean,
  colour: parseAsString.withDefault('mask'),
}

const serialize = createSerializer(NAMES)

/** What the address says of a comparison: the texts of both sides, and the view. */
export function useCompareAddress() {
  const [{ left, right, drift, only, unified, colour }, set] = useAddress(NAMES)
  return {
    /** '' where none is named. */
    left,
    right,
    view: {
      drift: drift ?? undefined,
      onlyDifferences: only,
      /** Undefined: as the window has room. */
      isUnified: unified ?? undefined,
      colour,
    },
    setView: (change: Partial<CompareView>) =>
      set({
        ...('drift' in change && { drift: change.drift ?? null }),
        ...(change.onlyDifferences !== undefined && { only: change.onlyDifferences }),
        ...(change.isUnified !== undefined && { unified: change.isUnified }),
        ...(change.colour !== undefined && { colour: change.colour }),
      }),
    /** Another pair has other drift. */
    setSides: (sides: Partial<Readonly<Record<SideName, string>>>) =>
      set({ ...sides, drift: null }, { history: 'push' }),
    /** An address that restores exactly this, with both sides named. */
    link: (sides: Readonly<Record<SideName, string>>) =>
      new URL(serialize('/compare', { ...sides, drift, only, unified, colour }), window.location.href).href,
  }
}
