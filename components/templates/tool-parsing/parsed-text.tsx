import { Fragment } from 'react'
import type { ParserReading } from '#lib/templates/tool-parsing/analysis.ts'
import type { Tile, TilePart } from '#lib/templates/tool-parsing/tiles.ts'

interface ParsedTextProps {
  readonly text: string
  readonly lane: ParserReading
}

/** A completion as one parser reads it: every character in its part, with numbered calls and marked errors. */
export function ParsedText({ text, lane }: ParsedTextProps) {
  let lastCall: number | undefined
  return (
    <pre
      data-parsed={lane.parser}
      className="whitespace-pre-wrap px-3.5 py-2 font-mono text-xs leading-5 [overflow-wrap:anywhere]"
    >
      {lane.tiles.slice(0, MOST_TILES).map((tile) => {
        const begins = tile.call !== undefined && tile.call !== lastCall
        lastCall = tile.call
        return (
          <Fragment key={tile.start}>
            {begins && <Label>{`call ${(tile.call as number) + 1}`}</Label>}
            {tile.part === 'dropped' && <Label>dropped</Label>}
            <TileText text={text} tile={tile} lane={lane} />
          </Fragment>
        )
      })}
      {lane.tiles.length > MOST_TILES && (
        <span className="text-faint"> … {lane.tiles.length - MOST_TILES} parts more</span>
      )}
    </pre>
  )
}

/** Most parts shown: more would block the page. */
const MOST_TILES = 4000

/** Label that is not part of the text: it is neither selected nor copied with it. */
function Label({ children }: { readonly children: string }) {
  return (
    <span className="mr-0.5 select-none rounded-xs border border-line bg-panel px-1 align-middle font-sans text-[10px] text-dim not-italic leading-none no-underline">
      {children}
    </span>
  )
}

function TileText({ text, tile, lane }: { readonly text: string; readonly tile: Tile; readonly lane: ParserReading }) {
  const { start, end, part } = tile
  const call = part === 'malformed' && tile.call !== undefined ? lane.calls[tile.call] : undefined
  const at = call?.kind === 'malformed' ? call.at.offset : undefined
  const textBetween = (from: number, to: number) => text.slice(from, to)
  return (
    <span data-part={part} data-call={tile.call} className={PART_LOOKS[part]} title={titleOf(tile, lane)}>
      {at === undefined ? (
        textBetween(start, end)
      ) : (
        <>
          {textBetween(start, at)}
          <mark className="rounded-xs bg-bad text-ground no-underline" data-fault>
            {at < end ? text.slice(at, at + lengthAt(text, at)) : ' '}
          </mark>
          {textBetween(Math.min(end, at + lengthAt(text, at)), end)}
        </>
      )}
    </span>
  )
}

/** Returns the UTF-16 code units of the character at an offset. */
const lengthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

function titleOf({ start, part, call, argument }: Tile, lane: ParserReading): string {
  const owner = call === undefined ? undefined : lane.calls[call]
  const where = call === undefined ? '' : ` of call ${call + 1}`
  if (part === 'dropped') return `dropped${where}: ${lane.dropped.find((one) => one.start === start)?.why}`
  if (owner?.kind === 'malformed') return `malformed: ${owner.why}`
  const value =
    part === 'value' && argument !== undefined ? owner?.arguments.find(({ span }) => span.start === start) : undefined
  return value ? `${value.name}, ${value.type}${where}` : `${PART_NAMES[part]}${where}`
}

const PARTS = ['name', 'key', 'value', 'marker', 'think', 'dropped', 'malformed'] as const

/** Legend of the parts of a completion. */
export function PartLegend() {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-3 gap-y-1 font-mono text-xs">
      {PARTS.map((part) => (
        <li key={part}>
          <span className={PART_LOOKS[part]}>{PART_NAMES[part]}</span>
        </li>
      ))}
    </ul>
  )
}

/** Looks of the parts of a completion. They differ in weight, lines and slant too, not only in colour. */
const PART_LOOKS: Readonly<Record<TilePart, string>> = {
  marker: 'text-faint',
  name: 'font-semibold text-tool underline decoration-2 underline-offset-3',
  key: 'text-tool underline decoration-dotted underline-offset-3',
  value: 'bg-accent-soft text-ink-trained',
  malformed: 'bg-bad-soft text-bad underline decoration-wavy decoration-1 underline-offset-3',
  dropped: 'bg-warn-soft text-warn line-through decoration-2',
  think: 'text-think italic',
  rest: '',
}

const PART_NAMES: Readonly<Record<TilePart, string>> = {
  marker: 'markup',
  name: 'name',
  key: 'argument',
  value: 'value',
  malformed: 'malformed',
  dropped: 'dropped',
  think: 'thinking',
  rest: 'left in the text',
}
