interface SegmentedProps<T extends string> {
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string; readonly title?: string }[]
  readonly value: T
  readonly onChange: (value: T) => void
  /** True: options that do not fit in one row continue in the next one. Omitted: they stay side by side. */
  readonly canWrap?: boolean
}

/** Shows a few options side by side, one of which is selected. */
export function Segmented<T extends string>({ label, options, value, onChange, canWrap }: SegmentedProps<T>) {
  return (
    <fieldset className={`inline-flex gap-1 ${canWrap ? 'flex-wrap' : ''}`}>
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          title={option.title}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="min-h-7 rounded-md border border-line bg-raised px-2.5 max-sm:px-1.5 hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground"
        >
          {option.text}
        </button>
      ))}
    </fieldset>
  )
}
