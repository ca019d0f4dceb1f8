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

/** Reads the comparison from the page's address, the texts of both sides and the view, and returns functions that write it. */
export function useCompareAddress() {
  const [{ left, right, drift, only, unified, colour }, set] = useAddress(NAMES)
  return {
    /** '' if the address names no side. */
    left,
    right,
    view: {
      drift: drift ?? undefined,
      onlyDifferences: only,
      /** Undefined means that the width of the window decides. */
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
    /** Sets sides and clears the chosen drift span, which belongs to the previous pair. */
    setSides: (sides: Partial<Readonly<Record<SideName, string>>>) =>
      set({ ...sides, drift: null }, { history: 'push' }),
    /** Returns an absolute URL that restores exactly this view, with both sides named. */
    link: (sides: Readonly<Record<SideName, string>>) =>
      new URL(serialize('/compare', { ...sides, drift, only, unified, colour }), window.location.href).href,
  }
}
