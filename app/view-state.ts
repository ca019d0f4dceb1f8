'use client'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { HEATS, type Heat } from '#components/trajectory/heat.ts'

/** What the address says of the view: a copied link shows the same. */
export function useViewState() {
  const [{ t, token, colour }, set] = useQueryStates(
    { t: parseAsString, token: parseAsInteger, colour: parseAsStringLiteral(HEATS).withDefault('logprob') },
    { history: 'replace', shallow: true },
  )
  return {
    key: t ?? undefined,
    selected: token ?? undefined,
    heat: colour as Heat,
    setKey: (key: string | undefined) => set({ t: key ?? null, token: null }, { history: 'push' }),
    setSelected: (index: number | undefined) => set({ token: index ?? null }),
    setHeat: (heat: Heat) => set({ colour: heat }),
  }
}
