'use client'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { HEATS, type Heat } from '#components/trajectory/heat.ts'

/** What the address says of the view: a copied link shows the same. */
export function useViewState() {
  const [{ t, at, colour }, set] = useQueryStates(
    { t: parseAsString, at: parseAsInteger, colour: parseAsStringLiteral(HEATS).withDefault('logprob') },
    { history: 'replace', shallow: true },
  )
  return {
    key: t ?? undefined,
    selected: at ?? undefined,
    heat: colour as Heat,
    setKey: (key: string | undefined) => set({ t: key ?? null, at: null }, { history: 'push' }),
    setSelected: (index: number | undefined) => set({ at: index ?? null }),
    setHeat: (heat: Heat) => set({ colour: heat }),
  }
}
