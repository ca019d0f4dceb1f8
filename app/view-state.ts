'use client'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { HEATS, type Heat } from '#components/trajectory/heat.ts'

/** What the address says of the view: a copied link shows the same. */
export function useViewState() {
  const [{ t, at, colour, opened }, set] = useQueryStates(
    {
      t: parseAsString,
      at: parseAsInteger,
      colour: parseAsStringLiteral(HEATS).withDefault('logprob'),
      opened: parseAsInteger,
    },
    { history: 'replace', shallow: true },
  )
  return {
    key: t ?? undefined,
    selected: at ?? undefined,
    heat: colour as Heat,
    /** How many trajectories the file had that was just opened here; undefined when it was this one alone. */
    opened: opened !== null && opened > 1 ? opened : undefined,
    setKey: (key: string | undefined) => set({ t: key ?? null, at: null }, { history: 'push' }),
    setSelected: (index: number | undefined) => set({ at: index ?? null }),
    forgetOpened: () => set({ opened: null }),
    setHeat: (heat: Heat) => set({ colour: heat }),
  }
}
