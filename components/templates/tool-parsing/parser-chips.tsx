interface ParserChipsProps {
  readonly parsers: readonly { readonly name: string; readonly calls: number }[]
  readonly shown: readonly string[]
  readonly onChange: (shown: readonly string[]) => void
}

/** Any set of parsers; each says how many calls it reads. */
export function ParserChips({ parsers, shown, onChange }: ParserChipsProps) {
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">Parsers</legend>
      {parsers.map(({ name, calls }) => {
        const isShown = shown.includes(name)
        return (
          <button
            key={name}
            type="button"
            aria-pressed={isShown}
            onClick={() =>
              onChange(parsers.map((one) => one.name).filter((one) => (one === name ? !isShown : shown.includes(one))))
            }
            className="min-h-7 rounded-md border border-line bg-raised px-2.5 font-mono text-xs hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground"
          >
            {name}
            <span className="ml-1.5 tabular-nums opacity-70">{calls}</span>
          </button>
        )
      })}
    </fieldset>
  )
}
