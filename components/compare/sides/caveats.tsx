import type { ComparedSides } from '#lib/analysis/compare/compare-sides.ts'

/** Caveats of the comparison: differences that may come from our rendering. They are shown as a count that opens the full texts. */
export function Caveats({ compared }: { readonly compared: ComparedSides }) {
  const caveats = (['left', 'right'] as const).flatMap((name) =>
    compared[name].caveats.map((caveat) => ({ name, caveat })),
  )
  if (caveats.length === 0) return null
  return (
    <details className="border-line border-b bg-panel px-3.5 py-1.5 text-xs">
      <summary className="w-fit cursor-pointer text-dim hover:text-ink">Caveats: {caveats.length}</summary>
      <ul className="mt-1 grid list-disc gap-0.5 pl-5">
        {caveats.map(({ name, caveat }) => (
          <li key={`${name} ${caveat}`} className="[overflow-wrap:anywhere]">
            <span className="text-dim">{name}:</span> {caveat}
          </li>
        ))}
      </ul>
    </details>
  )
}
