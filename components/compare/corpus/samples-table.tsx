'use client'
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Table, type TableColumn } from '#components/ui/table.tsx'
import { type Sample, sampleOriginText } from '#lib/analysis/corpus/sample.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { Button } from '../../ui/button.tsx'
import { type CheckedSampleSort, countSpans, nameText, type SampleColumn } from './sample-list.ts'
import { SeverityMark } from './severity.tsx'

interface SamplesTableProps {
  /** Samples in the order in which they are shown. */
  readonly samples: readonly Sample[]
  readonly sort: CheckedSampleSort
  readonly onSort: (sort: CheckedSampleSort) => void
  /** Returns the address of a sample's comparison; undefined if the sample must be stored first. */
  readonly hrefOf: (sample: Sample) => string | undefined
  /** Called when a link is followed in this window. */
  readonly onOpen: (href: string) => void
  readonly onStore: (sample: Sample) => void
  /** Place of the sample that is being stored. */
  readonly storing: string | undefined
}

const STEP = 100

/** Table of samples with their drift, each with a link or button to its comparison. */
export function SamplesTable({ samples, sort, onSort, hrefOf, onOpen, onStore, storing }: SamplesTableProps) {
  const [most, setMost] = useState(STEP)
  const columns: readonly TableColumn<Sample, SampleColumn>[] = [
    {
      name: 'name',
      text: 'Sample',
      className: 'w-full max-w-0',
      cell: (sample) => (
        <SampleName
          sample={sample}
          href={hrefOf(sample)}
          onOpen={onOpen}
          onStore={() => onStore(sample)}
          storing={storing}
        />
      ),
    },
    {
      name: 'spans',
      text: 'Spans',
      title: 'Drift spans',
      isNumber: true,
      cell: (sample) => (sample.kind === 'checked' ? countText(countSpans(sample)) : '—'),
    },
    {
      name: 'trained',
      text: 'Trained',
      title: 'Trained tokens in drift, of all trained tokens',
      isNumber: true,
      cell: (sample) =>
        sample.kind === 'checked' ? (
          <>
            {countText(sample.trained.touched)}
            <span className="text-dim max-sm:hidden"> of {countText(sample.trained.of)}</span>
          </>
        ) : (
          '—'
        ),
    },
    {
      name: 'tokens',
      text: 'Tokens',
      title: 'Recorded tokens, and the difference on the other side',
      isNumber: true,
      className: 'max-md:hidden',
      cell: (sample) => (sample.kind === 'checked' ? tokensText(sample.tokens) : '—'),
    },
    {
      name: 'prefix',
      text: 'Prefix lost',
      title: 'Cached tokens that the next prompt does not begin with',
      isNumber: true,
      className: 'max-lg:hidden',
      cell: (sample) => (sample.kind === 'checked' ? countText(sample.prefixLost) : '—'),
    },
    {
      name: 'rows',
      text: 'Rows',
      title: 'Training rows of the sample, and the extra tokens of all rows but the last',
      isNumber: true,
      className: 'max-lg:hidden',
      cell: (sample) =>
        sample.kind === 'checked'
          ? `${countText(sample.rows.count)}${sample.rows.extra > 0 ? ` (+${countText(sample.rows.extra)})` : ''}`
          : '—',
    },
  ]
  return (
    <>
      <Table
        label="Samples"
        columns={columns}
        rows={samples.slice(0, most)}
        keyOf={({ place }) => sampleOriginText(place)}
        sort={sort}
        onSort={onSort}
      />
      {samples.length > most && (
        <Button className="mt-2 text-xs" onClick={() => setMost(most + STEP)}>
          {countText(Math.min(STEP, samples.length - most))} more of {countText(samples.length)}
        </Button>
      )}
    </>
  )
}

interface SampleNameProps {
  readonly sample: Sample
  readonly href: string | undefined
  readonly onOpen: (href: string) => void
  readonly onStore: () => void
  readonly storing: string | undefined
}

function SampleName({ sample, href, onOpen, onStore, storing }: SampleNameProps) {
  const name = nameText(sample)
  const place = sampleOriginText(sample.place)
  return (
    <>
      <span className="flex items-baseline gap-x-2 max-sm:flex-col max-sm:items-start">
        {href === undefined ? (
          <span className="min-w-0 max-w-full truncate text-[13px]" title={name}>
            {name}
          </span>
        ) : (
          <a
            href={href}
            title={name}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return
              event.preventDefault()
              onOpen(href)
            }}
            className="min-w-0 max-w-full truncate text-[13px] hover:underline"
          >
            {name}
          </a>
        )}
        {href === undefined && sample.kind === 'checked' && (
          <button
            type="button"
            disabled={storing !== undefined}
            aria-label={`Store and compare ${name}`}
            title="Store in the library and show both sides"
            className="shrink-0 whitespace-nowrap text-accent hover:underline disabled:text-faint"
            onClick={onStore}
          >
            {storing === place ? 'Storing…' : 'Store and compare'}
          </button>
        )}
      </span>
      {sample.kind === 'checked' ? (
        <span className="block truncate text-dim">
          <SeverityMark severity={sample.severity} />
          {sample.kinds.length > 0 && ` · ${sample.kinds.map(({ kind }) => kind).join(', ')}`}
          {place !== name && ` · ${place}`}
          {sample.caveats.length > 0 && (
            <span className="text-warn" title={sample.caveats.join('\n')}>
              {' · '}
              {countWithNoun(sample.caveats.length, 'caveat')}
            </span>
          )}
        </span>
      ) : (
        <span className="block text-dim [overflow-wrap:anywhere]">
          <span className="text-warn">not checked</span> · {[sample.why, sample.detail].filter(Boolean).join(' ')}
          {place !== name && ` · ${place}`}
        </span>
      )}
    </>
  )
}

function tokensText({ left, right }: { readonly left: number; readonly right: number }): string {
  const more = right - left
  return `${countText(left)}${more === 0 ? '' : ` ${more > 0 ? '+' : '−'}${countText(Math.abs(more))}`}`
}
