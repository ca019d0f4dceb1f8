'use client'
/** The legend of underlines, outlines, gutter bars and rails, with a drawn sample of each. */
import type { CSSProperties } from 'react'
import { Heading } from '#components/ui/facts.tsx'
import { boundaryLineAfter, rowBackground } from '../grid/row-background.ts'
import { rowOverlay } from '../grid/row-overlay.ts'
import { rowHeightOf } from '../grid-options.ts'
import { type LegendEntry, type LegendSample, type LegendSource, legendOf, type RowSample } from './legend-entries.ts'

/** Lists the marks that the view shows now; a disclosure contains the others. */
export function TokenLegend({ source }: { readonly source: LegendSource }) {
  const { present, absent } = legendOf(source)
  return (
    <>
      <p className="text-dim">Backgrounds show the colour mode; its scale is next to the mode.</p>
      {present.map(({ title, entries }) => (
        <section key={title} aria-label={title} className="mt-4">
          <Heading>{title}</Heading>
          <Entries entries={entries} />
        </section>
      ))}
      {absent.length > 0 && (
        <details className="mt-4">
          <summary className="flex min-h-6 items-center font-medium text-dim hover:text-ink">
            Not shown now: {absent.length} more
          </summary>
          <div className="mt-2">
            <Entries entries={absent} />
          </div>
        </details>
      )}
    </>
  )
}

const Entries = ({ entries }: { readonly entries: readonly LegendEntry[] }) => (
  <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] items-center gap-x-3 gap-y-1.5 max-sm:grid-cols-[7rem_minmax(0,1fr)]">
    {entries.map(({ title, meaning, sample }) => (
      <div key={`${title} ${meaning}`} className="contents" data-legend-entry={title}>
        <dt className="min-w-0">
          <span className="sr-only">{title}</span>
          <Sample sample={sample} />
        </dt>
        <dd className="min-w-0">
          <span aria-hidden className="font-medium">
            {title}
          </span>
          <span className="block text-dim">{meaning}</span>
        </dd>
      </div>
    ))}
  </dl>
)

const FONT_SIZE = 13
const ROW = rowHeightOf(FONT_SIZE)
/** Width of a cell in pixels: a character of the font is 0.6 of its size wide. */
const CELL = 0.6 * FONT_SIZE

function Sample({ sample }: { readonly sample: LegendSample }) {
  switch (sample.kind) {
    case 'row':
      return <SampleRow sample={sample} />
    case 'rail':
      return (
        <span aria-hidden className="grid text-[11px] text-faint tabular-nums leading-4">
          <span>#2 · 118</span>
          <span className="font-semibold text-accent">response</span>
          <span>mask 1</span>
          <span>64 tok</span>
        </span>
      )
    case 'minimap':
      return (
        <span aria-hidden className="legend-minimap">
          <span className="bg-tool" />
          <span className="bg-(--heat-6)" />
          <span className="bg-trained" />
          <span className="bg-(--mark-hit)" />
        </span>
      )
    case 'gap':
      return (
        <span aria-hidden className="legend-sample">
          <span className="lane-gap inset-x-0 h-full" data-drift="" />
        </span>
      )
    case 'signs':
      return (
        <span aria-hidden className="inline-flex gap-3 font-mono font-semibold">
          <span className="text-bad">−</span>
          <span className="text-good">+</span>
        </span>
      )
    case 'segment-rules':
      return (
        <span aria-hidden className="inline-flex h-5 gap-3">
          <span className="w-0.5 bg-line-strong" />
          <span className="w-0.5 bg-trained" />
        </span>
      )
  }
}

function SampleRow({ sample }: { readonly sample: RowSample }) {
  const {
    text,
    glyphs = '',
    isTrained = false,
    isForced = false,
    span,
    isFolded,
    ground,
    boundaries = [],
    overlay,
    box,
  } = sample
  const to = text.length * CELL
  const whole = (colour: string) => [{ from: 0, to, colour }]
  const background: CSSProperties = rowBackground(
    {
      heat: [],
      trained: isTrained ? whole('var(--trained)') : [],
      forced: isForced ? whole('var(--warn)') : [],
      special: ground === 'special' ? whole('var(--special-edge)') : [],
      groups: ground === 'groups' ? whole('var(--group-edge)') : [],
      boundaries: boundaries.map((column) => boundaryLineAfter(column * CELL)),
    },
    ROW,
  )
  const over = overlay ? rowOverlay([{ kind: overlay, ...overlaid(overlay, to), begins: true, ends: true }], ROW) : {}
  return (
    <span aria-hidden className="token-canvas legend-sample">
      <span
        className="token-row"
        data-span={span ?? ''}
        data-ink={isTrained ? 'trained' : 'context'}
        data-drift={overlay === 'drift' || overlay === 'gap'}
        data-fold={isFolded ? 'sample' : ''}
      >
        <span className="token-text" style={background}>
          {text}
        </span>
        <span className="token-marks" style={over}>
          {glyphs}
        </span>
        {box && <span className={`token-outline ${box}`} style={{ width: to }} />}
      </span>
    </span>
  )
}

/** Returns the marked part of a sample; a cut is in its middle, before the word that is lost. */
const overlaid = (kind: RowSample['overlay'], to: number) =>
  kind === 'cut' ? { from: to / 2 + CELL / 2, to } : { from: 0, to }
