import { X } from 'lucide-react'
import type { Ref } from 'react'
import { trajectorySourceText } from '#components/shell/trajectory-rows/row-texts.ts'
import { countText } from '#components/token-view/numbers.ts'
import { Select } from '#components/ui/field.tsx'
import { type FilterChoices, firstOrder, type ListSort } from '#lib/api/library.ts'

/** Filter of the list; '' means no restriction. */
export interface LibraryFilter {
  readonly q: string
  /** Kind of an outcome, a stop reason, or an error code. */
  readonly outcome: string
  readonly tag: string
  /** Kind of a source; `import:` is followed by a format. */
  readonly source: string
  /** One of `problems`, `none`, `drift`, `unchecked` and `lost`. */
  readonly health: string
  /** Id of a group of samples. */
  readonly group: string
}

interface LibraryFiltersProps {
  readonly filter: LibraryFilter
  readonly choices: FilterChoices | undefined
  readonly sort: ListSort
  readonly onFilter: (change: Partial<LibraryFilter>) => void
  readonly onSort: (sort: ListSort) => void
  readonly isFolded: boolean
  readonly onFold: (isFolded: boolean) => void
  /** Whether a trainer's cut is set. */
  readonly hasCut: boolean
  readonly searchRef: Ref<HTMLInputElement>
}

const BOX =
  'min-h-8 min-w-0 rounded-md border border-line bg-raised px-2 hover:border-line-strong data-set:border-accent data-set:font-medium'

const SORTS: readonly (readonly [text: string, sort: ListSort])[] = [
  ['newest', { by: 'added', order: 'desc' }],
  ['oldest', { by: 'added', order: 'asc' }],
  ['title', { by: 'title', order: firstOrder('title') }],
  ['most tokens', { by: 'tokens', order: 'desc' }],
  ['most trained', { by: 'trained', order: 'desc' }],
  ['highest logprob', { by: 'meanLogprob', order: 'desc' }],
  ['lowest logprob', { by: 'meanLogprob', order: 'asc' }],
  ['highest reward', { by: 'reward', order: 'desc' }],
  ['lowest reward', { by: 'reward', order: 'asc' }],
]

/** Shows the search field and the filters of the library. */
export function LibraryFilters({
  filter,
  choices,
  sort,
  onFilter,
  onSort,
  isFolded,
  onFold,
  hasCut,
  searchRef,
}: LibraryFiltersProps) {
  return (
    <search className="flex flex-wrap items-center gap-2 max-md:grid max-md:w-full max-md:grid-cols-2">
      <input
        ref={searchRef}
        type="search"
        aria-label="Search"
        placeholder="Search: words, &quot;a phrase&quot;, reward&gt;0.5"
        title={SEARCH_HELP}
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        value={filter.q}
        onChange={(event) => onFilter({ q: event.target.value })}
        className={`w-80 max-md:col-span-2 max-md:w-full ${BOX} placeholder:text-faint`}
      />
      <Choice
        label="Outcome"
        value={filter.outcome}
        options={outcomeOptions(choices)}
        onChange={(outcome) => onFilter({ outcome })}
      />
      <Choice label="Tag" value={filter.tag} options={tagOptions(choices)} onChange={(tag) => onFilter({ tag })} />
      <Choice
        label="Source"
        value={filter.source}
        options={sourceOptions(choices)}
        onChange={(source) => onFilter({ source })}
      />
      <Choice
        label="Health"
        value={filter.health}
        options={hasCut ? [...HEALTH_OPTIONS, LOST] : HEALTH_OPTIONS}
        onChange={(health) => onFilter({ health })}
      />
      {filter.group === '' && (
        <Select
          aria-label="Groups"
          value={isFolded ? 'folded' : 'open'}
          data-set={!isFolded || undefined}
          onChange={(event) => onFold(event.target.value === 'folded')}
          look="tall"
        >
          <option value="folded">Groups: collapsed</option>
          <option value="open">Groups: expanded</option>
        </Select>
      )}
      {filter.group !== '' && (
        <button
          type="button"
          aria-label="Show all trajectories"
          title="Show all trajectories"
          data-set
          className={`${BOX} inline-flex items-center gap-1.5`}
          onClick={() => onFilter({ group: '' })}
        >
          One group <X size={13} aria-hidden />
        </button>
      )}
      <Select
        aria-label="Sort"
        value={SORTS.findIndex(([, { by, order }]) => by === sort.by && order === sort.order)}
        onChange={(event) => onSort(SORTS[Number(event.target.value)]?.[1] ?? sort)}
        look="tall"
        className={`${filter.group === '' ? '' : 'max-md:col-span-2'} min-[1400px]:hidden`}
      >
        {SORTS.map(([text], index) => (
          <option key={text} value={index}>
            {text}
          </option>
        ))}
      </Select>
    </search>
  )
}

const SEARCH_HELP = `Words and "phrases" in titles, questions, tags, notes, models, and at the beginning of words that the model wrote.
Numbers: reward, tokens, trained, logprob (mean), turns, segments, calls, failed, as in reward>0.5, tokens:1000-2000, logprob<-2
A minus before a term excludes it.`

const LOST = { value: 'lost', text: 'Lost to the trainer’s cut' }

const HEALTH_OPTIONS: readonly Option[] = [
  { value: 'problems', text: 'With findings' },
  { value: 'none', text: 'No findings' },
  { value: 'drift', text: 'With drift' },
  { value: 'unchecked', text: 'Not checked yet' },
]

interface Option {
  readonly value: string
  readonly text: string
  readonly count?: number
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly Option[]
  readonly onChange: (value: string) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const isKnown = value === '' || options.some((option) => option.value === value)
  return (
    <Select
      aria-label={label}
      value={value}
      data-set={value !== '' || undefined}
      onChange={(event) => onChange(event.target.value)}
      look="tall"
      // As wide as the chosen text, so that the filters do not move when the options are read.
      className="md:field-sizing-content md:max-w-40"
    >
      <option value="">{label}: any</option>
      {!isKnown && <option value={value}>{value}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
          {option.count !== undefined && ` (${countText(option.count)})`}
        </option>
      ))}
    </Select>
  )
}

/** Returns each kind of outcome that occurs, followed by its reasons or codes. */
function outcomeOptions(choices: FilterChoices | undefined): readonly Option[] {
  const { outcomes = [] } = choices ?? {}
  return (['running', 'ended', 'failed'] as const).flatMap((kind): Option[] => {
    const own = outcomes.filter((outcome) => outcome.kind === kind)
    if (own.length === 0) return []
    const count = own.reduce((sum, outcome) => sum + outcome.count, 0)
    if (kind === 'running') return [{ value: kind, text: kind, count }]
    return [
      { value: kind, text: kind, count },
      ...own.map(({ outcome, count: part }) => ({ value: outcome, text: `– ${outcome}`, count: part })),
    ]
  })
}

const tagOptions = (choices: FilterChoices | undefined): readonly Option[] =>
  (choices?.tags ?? []).map(({ tag, count }) => ({ value: tag, text: tag, count }))

function sourceOptions(choices: FilterChoices | undefined): readonly Option[] {
  const { sources = [] } = choices ?? {}
  const imported = sources.filter(({ kind }) => kind === 'import')
  const all: Option = {
    value: 'import',
    text: 'import',
    count: imported.reduce((sum, { count }) => sum + count, 0),
  }
  return [
    ...sources.filter(({ kind }) => kind !== 'import').map(({ kind, count }) => ({ value: kind, text: kind, count })),
    ...(imported.length > 0 ? [all] : []),
    ...imported.map(({ kind, format, count }) => ({
      value: `${kind}:${format}`,
      text: trajectorySourceText(kind, format),
      count,
    })),
  ]
}
