import { Button } from '#components/ui/button.tsx'

interface TokenizerNamesProps {
  readonly names: readonly string[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
}

/** List of tokenizer names; a click chooses one. Shows nothing without names. */
export function TokenizerNames({ names, chosen, onChoose }: TokenizerNamesProps) {
  if (names.length === 0) return null
  return (
    <ul className="flex max-h-36 flex-wrap gap-2 overflow-y-auto" aria-label="Tokenizers on this machine">
      {names.map((name) => (
        <li key={name} className="max-w-full">
          <Button className="max-w-full" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
            <span className="truncate" title={name}>
              {name}
            </span>
          </Button>
        </li>
      ))}
    </ul>
  )
}
