'use client'
import { useQuery } from '@tanstack/react-query'
import { countText } from '#components/token-view/numbers.ts'
import { Popover } from '#components/ui/popover.tsx'
import { Table, type TableColumn } from '#components/ui/table.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { AllSavings, SavedSums } from '#lib/api/sessions/savings.ts'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { allSavingsOptions, savingsOptions } from '#lib/browser/sessions/sessions.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { SessionCallNode } from './call-texts.ts'
import type { PickerName } from './export-leaves.tsx'
import { savingsEnd, savingsParts } from './savings-text.ts'

interface SavingsLineProps {
  readonly session: SessionRow
  readonly nodes: readonly SessionCallNode[]
  readonly picker: PickerName
}

/** Shows what the chosen leaves of a session in tito mode saved, compared with a chat pipeline, and the numbers of each leaf on request. */
export function SavingsLine({ session, nodes, picker }: SavingsLineProps) {
  const { id, tokens, leaves, running } = session
  const { data, error, isLoading } = useQuery({
    ...savingsOptions(id, tokens, picker),
    enabled: leaves > 0 && running === 0,
  })
  if (error)
    return <span className="text-dim text-xs">Not compared with a chat pipeline: {visibleText(error.message)}</span>
  if (!data)
    return (
      isLoading && (
        // The answer has two lines in a narrow window.
        <span className="text-faint text-xs max-sm:min-h-14 max-sm:w-full">Comparing with a chat pipeline…</span>
      )
    )
  if (data.leaves.length === 0) return null
  const parts = savingsParts(data.total, data.leaves.length)
  const caveats = [...new Set(data.leaves.flatMap((leaf) => leaf.caveats))]
  const numberOf = (leaf: number) => nodes.find(({ node }) => node.node === leaf)?.call.sequence
  const rows = [
    ...data.leaves.map((leaf) => ({
      ...leaf,
      key: `${leaf.node}`,
      name: `Call ${numberOf(leaf.node) ?? leaf.node}`,
      leaves: 1,
    })),
    {
      ...data.total,
      key: 'chosen',
      name: picker === 'all' ? 'All leaves' : 'Chosen leaves',
      leaves: data.leaves.length,
    },
  ]
  return (
    <span className="text-xs leading-7">
      <span className="font-medium">{parts.join(' · ')}</span> <span className="text-dim">{savingsEnd(parts)}</span>{' '}
      <Popover
        label="What each leaf saved"
        button={caveats.length > 0 ? `Each leaf, ${countWithNoun(caveats.length, 'caveat')}` : 'Each leaf'}
      >
        <div className="max-h-[40dvh] max-w-xl overflow-y-auto">
          <SavingsTable rows={rows} />
          {caveats.map((caveat) => (
            <p key={caveat} className="mt-2 text-dim text-xs [overflow-wrap:anywhere]">
              {visibleText(caveat)}
            </p>
          ))}
        </div>
      </Popover>
    </span>
  )
}

type SavingsRow = SavedSums & { readonly key: string; readonly name: string }

const COLUMNS: readonly TableColumn<SavingsRow>[] = [
  { name: 'name', text: 'Leaf', cell: ({ name }) => name },
  { name: 'drifts', text: 'Drifts', title: 'Drifts avoided', isNumber: true, cell: ({ drifts }) => countText(drifts) },
  {
    name: 'trained',
    text: 'Trained',
    title: 'Trained tokens kept: those in these drifts',
    isNumber: true,
    cell: ({ trainedTokens }) => countText(trainedTokens),
  },
  {
    name: 'cached',
    text: 'Cached',
    title: 'Cached tokens kept: tokens of the prefix cache that the prompts of a chat pipeline would not have used',
    isNumber: true,
    cell: ({ cachedTokens }) => countText(cachedTokens),
  },
  {
    name: 'rows',
    text: 'Rows',
    title: 'Training rows of the session, and those of a chat pipeline',
    isNumber: true,
    cell: ({ leaves, rows }) => `${countText(leaves)} instead of ${countText(rows)}`,
  },
]

/** Shows the savings of leaves, and below them those of all listed sessions. */
function SavingsTable({ rows }: { readonly rows: readonly SavingsRow[] }) {
  const { data } = useQuery(allSavingsOptions())
  const all = data ? [...rows, { ...data.total, key: 'sessions', name: allName(data) }] : rows
  return <Table label="Savings" columns={COLUMNS} rows={all} keyOf={({ key }) => key} />
}

const allName = ({ sessions, waiting, failed }: AllSavings): string =>
  [
    `All ${countWithNoun(sessions.length, 'session')}`,
    ...(waiting > 0 ? [`${countText(waiting)} waiting`] : []),
    ...(failed > 0 ? [`${countText(failed)} failed`] : []),
  ].join(', ')
