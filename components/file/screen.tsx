'use client'
/** The samples of a large file, which is read where it lies: listed while it is indexed, opened one by one, stored on request. */
import { useDeferredValue, useMemo, useSyncExternalStore } from 'react'
import { Link, useNavigation } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { countText, percentText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { indexedFile, type ShownIndex } from '#lib/browser/file-index/indexed-file.ts'
import { listedRows, NOT_READ, outcomeCounts, type RowFilter } from '#lib/browser/file-index/listed-rows.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { sizeText } from '#lib/util/text/size-text.ts'
import { listQuery, useFileAddress } from './address.ts'
import { RowsTable } from './rows-table.tsx'
import { type RowStoring, useStoreRows } from './use-store-rows.ts'

/** The page of a file’s samples. */
export function FileScreen() {
  const file = useSyncExternalStore(indexedFile.subscribe, indexedFile.state, indexedFile.state)
  return (
    <Shell title="Samples of a file" trajectory={undefined}>
      {file.kind === 'none' ? (
        <main className="p-4">
          <Banner
            tone="note"
            title="No file is open here."
            hint="A file that is not stored is lost when its page is reloaded. Open it again, or drop it anywhere in the window."
          />
        </main>
      ) : (
        <FileSamples key={file.opening} file={file} />
      )}
    </Shell>
  )
}

function FileSamples({ file }: { readonly file: ShownIndex }) {
  const { rows, status, chosen } = file
  const { filter, row, setRow, setFilter } = useFileAddress()
  const { go } = useNavigation()
  const { q, outcome, sort } = filter
  const { by, order } = sort
  const text = useDeferredValue(q)
  const { storing, store, forget } = useStoreRows()
  const listed = useMemo(
    () => listedRows(rows, { q: text, outcome, sort: { by, order } }),
    [rows, text, outcome, by, order],
  )
  const outcomes = useMemo(() => outcomeCounts(rows), [rows])
  const unread = outcomes.find(([one]) => one === NOT_READ)?.[1] ?? 0
  const found = `${countWithNoun(rows.length - unread, 'sample')}${unread === 0 ? '' : `, ${countText(unread)} not read`}`
  const list = listQuery(filter)
  const hrefOf = (index: number) => `/file/${index}${list === '' ? '' : `?${new URLSearchParams({ list })}`}`
  const isStoring = storing.kind === 'pending'
  return (
    <main
      className="grid min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]"
      data-index={status.kind}
      data-samples={rows.length}
    >
      <div>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-3.5 py-2">
          <h2 className="min-w-0 max-w-full truncate font-semibold" title={file.name}>
            {visibleText(file.name)}
          </h2>
          <span className="text-dim text-xs tabular-nums">
            {found} · {sizeText(file.size)} · not stored
            {listed.length < rows.length && ` · ${countText(listed.length)} listed`}
          </span>
          <span className="flex-1" />
          <Filters filter={filter} outcomes={outcomes} onFilter={setFilter} />
          <Button
            disabled={isStoring || (status.kind !== 'finished' && status.kind !== 'full')}
            title="Store every trajectory of the file in the library"
            onClick={() => store('all')}
          >
            {isStoring ? 'Storing…' : 'Store all'}
          </Button>
        </div>
        <Progress file={file} found={found} />
        <StoredBanner storing={storing} onDismiss={forget} />
      </div>
      {listed.length > 0 ? (
        <RowsTable
          rows={rows}
          listed={listed}
          sort={sort}
          onSort={(changed) => setFilter({ sort: changed })}
          selected={chosen}
          onSelect={indexedFile.choose}
          opened={row}
          hrefOf={hrefOf}
          // Back returns to the address with the row, which is written with a delay.
          onOpen={(index) => void go(hrefOf(index), setRow(index))}
        />
      ) : (
        <p className="p-6 text-center text-dim">No sample matches the filter.</p>
      )}
      {chosen.size > 0 && (
        <div className="flex flex-wrap items-center gap-2 border-line border-t bg-panel px-3.5 py-2">
          <span className="mr-1 font-medium">{countText(chosen.size)} selected</span>
          <Button
            look="primary"
            disabled={isStoring}
            onClick={() => store(rows.filter((_, index) => chosen.has(index)))}
          >
            {isStoring ? 'Storing…' : `Store ${countText(chosen.size)}`}
          </Button>
          <Button look="quiet" onClick={() => indexedFile.choose(new Set())}>
            Clear
          </Button>
        </div>
      )}
    </main>
  )
}

interface FiltersProps {
  readonly filter: RowFilter
  readonly outcomes: readonly (readonly [outcome: string, count: number])[]
  readonly onFilter: (change: Partial<RowFilter>) => void
}

const BOX =
  'min-h-8 min-w-0 rounded-md border border-line bg-raised px-2 hover:border-line-strong data-set:border-accent data-set:font-medium'

/** Orders that the menu offers where the headings are hidden. */
const SORTS: readonly (readonly [text: string, sort: RowFilter['sort']])[] = [
  ['order of the file', { by: 'place', order: 'asc' }],
  ['highest reward', { by: 'reward', order: 'desc' }],
  ['lowest reward', { by: 'reward', order: 'asc' }],
  ['most tokens', { by: 'tokens', order: 'desc' }],
  ['fewest tokens', { by: 'tokens', order: 'asc' }],
]

function Filters({ filter: { q, outcome, sort }, outcomes, onFilter }: FiltersProps) {
  return (
    <search className="flex flex-wrap items-center gap-2 max-md:grid max-md:w-full max-md:grid-cols-2">
      <input
        type="search"
        aria-label="Filter samples"
        placeholder="Question, id, line…"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={q}
        onChange={(event) => onFilter({ q: event.target.value })}
        className={`w-56 max-md:col-span-2 max-md:w-full ${BOX} placeholder:text-faint`}
      />
      <select
        aria-label="Outcome"
        value={outcome}
        data-set={outcome !== '' || undefined}
        onChange={(event) => onFilter({ outcome: event.target.value })}
        className={`${BOX} md:max-w-44`}
      >
        <option value="">Outcome: any</option>
        {outcome !== '' && !outcomes.some(([one]) => one === outcome) && <option value={outcome}>{outcome}</option>}
        {outcomes.map(([one, count]) => (
          <option key={one} value={one}>
            {one === NOT_READ ? 'Not read' : one} ({countText(count)})
          </option>
        ))}
      </select>
      <select
        aria-label="Sort"
        value={SORTS.findIndex(([, { by, order }]) => by === sort.by && order === sort.order)}
        onChange={(event) => onFilter({ sort: SORTS[Number(event.target.value)]?.[1] ?? sort })}
        className={`${BOX} md:hidden`}
      >
        {SORTS.map(([text], index) => (
          <option key={text} value={index}>
            {text}
          </option>
        ))}
      </select>
    </search>
  )
}

interface ProgressProps {
  readonly file: ShownIndex
  /** Numbers of samples and of records that could not be read. */
  readonly found: string
}

/** Shows how much of the file is indexed, with the button that stops or continues it; nothing when it is finished. */
function Progress({ file: { status, bytes, size }, found }: ProgressProps) {
  switch (status.kind) {
    case 'finished':
      return null
    case 'full':
      return (
        <Banner
          tone="note"
          title={`The list has the first ${countText(LIMITS.records)} trajectories of the file.`}
          hint="Split the file to list the others: for JSON lines, `split -l 10000` writes parts of 10,000."
        />
      )
    case 'failed':
      return <Banner tone="bad" title={status.error.message} hint={hintOf(status.error)} />
    case 'indexing':
    case 'stopped': {
      const isStopped = status.kind === 'stopped'
      return (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b bg-panel px-3.5 py-2">
          <progress className="h-1.5 min-w-40 flex-1" value={bytes} max={size} aria-label="Indexed" />
          <p className="text-dim text-xs tabular-nums" role="status" aria-live="off">
            {isStopped ? 'Stopped at ' : ''}
            {percentText(Math.floor((1000 * bytes) / size) / 1000)} · {sizeText(bytes)} of {sizeText(size)} · {found}
          </p>
          {isStopped ? (
            <Button onClick={indexedFile.resume}>Resume</Button>
          ) : (
            <Button onClick={indexedFile.stop}>Stop</Button>
          )}
        </div>
      )
    }
  }
}

function StoredBanner({ storing, onDismiss }: { readonly storing: RowStoring; readonly onDismiss: () => void }) {
  if (storing.kind === 'failed')
    return (
      <Banner tone="bad" title={`Nothing is stored: ${storing.error.message}`} hint={hintOf(storing.error)}>
        <Button onClick={onDismiss}>Dismiss</Button>
      </Banner>
    )
  if (storing.kind !== 'stored') return null
  const { trajectories, existing, failed } = storing.imported
  const notes = [
    existing > 0 && `${countText(existing)} of them ${existing === 1 ? 'was' : 'were'} in the library before.`,
    failed.count > 0 && `${countWithNoun(failed.count, 'record')} could not be read.`,
  ].filter((note) => note !== false)
  return (
    <Banner
      tone="note"
      title={`${countText(trajectories.length)} ${trajectories.length === 1 ? 'trajectory is' : 'trajectories are'} stored.`}
      hint={notes.length > 0 ? notes.join(' ') : undefined}
    >
      <Link href="/library" className="font-medium text-accent underline">
        Open library
      </Link>
      <Button onClick={onDismiss}>Dismiss</Button>
    </Banner>
  )
}
